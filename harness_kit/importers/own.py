"""Evaluation runs as files: JSON lines that hold all of a run, CSV tables, and runs of a store.

    write_results(run, "v1.jsonl")
    read_results("v1.jsonl"), read_results("runs.db#eval:v1")

A JSON lines file begins with the run and the number of its results; so a file that was cut off is known as
one, and its run is not complete. A CSV table has a column a field (`case_id` and `outcome` at least), knows
no set, and takes its name from the file. What a file is, is told by its content.
"""

import csv
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from harness_kit import canonical
from harness_kit.codes import Outcome, ReviewStatus
from harness_kit.errors import InputError, StoreVersionError
from harness_kit.evals import read_run
from harness_kit.jsonl import replace_file
from harness_kit.results import CaseResult, EvalRun
from harness_kit.store import TraceStore
from harness_kit.trace import Event

FORMAT = "harness_kit.results"
VERSION = 1

_DEFAULTS = {one.name: one.default for one in fields(CaseResult)}
_RUN_FIELDS = tuple(one.name for one in fields(EvalRun) if one.name not in ("results", "traces"))
_JSON_CELLS = frozenset({"actual", "expected", "tags"})


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _optional(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return type(value) is int


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "case_id": (lambda value: isinstance(value, str) and bool(value.strip()), "a text that is not blank"),
    "repeat": (lambda value: _whole(value) and value >= 1, "a whole number from 1"),
    "outcome": (lambda value: value in set(Outcome), f"one of {', '.join(Outcome)}"),
    "review": (lambda value: value in set(ReviewStatus), f"one of {', '.join(ReviewStatus)}"),
    "tokens": (_optional(_whole), "a whole number"),
    "reason": (_text, "a text"),
    "weight": (lambda value: _finite(value) and value >= 0, "a finite number, 0 or more"),
    "must_pass": (lambda value: isinstance(value, bool), "true or false"),
    "tags": (lambda value: isinstance(value, list | tuple) and all(map(_text, value)), "a list of texts"),
    **dict.fromkeys(("score", "cost", "duration_ms"), (_optional(_finite), "a finite number")),
    **dict.fromkeys(
        ("input_hash", "expectation_hash", "grader_hash", "trace_id", "started", "ended"),
        (_optional(_text), "a text"),
    ),
}
_RUN_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "run_id": _CHECKS["case_id"],
    "case_ids": _CHECKS["tags"],
    "data": (lambda value: isinstance(value, dict), "an object"),
    "duration_ms": _CHECKS["duration_ms"],
    **dict.fromkeys(("system", "version", "problem"), (_text, "a text")),
    **dict.fromkeys(("complete", "knows_its_set"), _CHECKS["must_pass"]),
    **dict.fromkeys(("set_hash", "started", "ended"), _CHECKS["started"]),
}


def result_record(result: CaseResult) -> dict[str, Any]:
    """Return a result as plain JSON values, without what is as by default."""
    values = ((name, getattr(result, name), default) for name, default in _DEFAULTS.items())
    kept = {name: value for name, value, default in values if default is MISSING or value != default}
    return {name: list(value) if name == "tags" else value for name, value in kept.items()}


def result_from(record: Any) -> CaseResult:
    """Return the result of a record; `InputError` for a missing or unknown field or a wrong value."""
    if not isinstance(record, Mapping):
        raise InputError(f"{str(record)[:60]!r} is no result; expected an object with case_id and outcome")
    for name, value in record.items():
        if name not in _DEFAULTS:
            raise InputError(f"a result has no field {name!r}; there are {', '.join(_DEFAULTS)}")
        check, expected = _CHECKS.get(name, (None, ""))
        if check is not None and not check(value):
            raise InputError(f"{name} is {value!r}; expected {expected}")
    for name in ("case_id", "outcome"):
        if name not in record:
            raise InputError(f"a result has no {name}; give it one")
    values = dict(record)
    values["outcome"] = Outcome(values["outcome"])
    values["review"] = ReviewStatus(values.get("review", ReviewStatus.NOT_NEEDED))
    values["tags"] = tuple(values.get("tags", ()))
    return CaseResult(**values)


def write_results(run: EvalRun, path: str | os.PathLike[str]) -> None:
    """Write a run as JSON lines, or, where the name ends in .csv, its results as a table.

    A file is replaced as a whole, or, after any error, not at all. `CanonicalError` for a value that is no
    plain JSON, `StoreError` where the disk refuses.
    """
    target = Path(path)
    if target.suffix.lower() == ".csv":
        replace_file(target, _table_lines(run.results))
    else:
        replace_file(target, (canonical.text(record) + "\n" for record in _records(run)))


def _records(run: EvalRun) -> Iterator[dict[str, Any]]:
    header = {name: getattr(run, name) for name in _RUN_FIELDS}
    header |= {"case_ids": list(run.case_ids), "data": dict(run.data)}
    yield {"format": FORMAT, "version": VERSION, "results": len(run.results), "run": header}
    for result in run.results:
        yield result_record(result)


def _table_lines(results: Sequence[CaseResult]) -> Iterator[str]:
    class Line:
        def write(self, text: str) -> str:
            return text

    writer = csv.writer(Line())  # its line ends make it quote texts that hold one
    # The mark tells a spreadsheet that Korean text is UTF-8.
    yield "\ufeff" + str(writer.writerow(_DEFAULTS))
    for result in results:
        yield str(writer.writerow([_cell(name, getattr(result, name)) for name in _DEFAULTS]))


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in _JSON_CELLS:
        return canonical.text(list(value) if name == "tags" else value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_results(source: str | os.PathLike[str]) -> EvalRun:
    """Read a run from JSON lines, a CSV table, or a store (`runs.db#run-id`).

    `InputError` naming file and line for anything else; an empty run is never the answer to a file that
    could not be read.
    """
    name = os.fspath(source)
    path, _, run_id = name.rpartition("#")
    if run_id and path and not Path(name).exists():
        return _stored(path, run_id)
    try:
        with Path(name).open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise InputError(f"cannot read {name!r}: {error.strerror}; name a result file") from error
    if start.startswith(b"SQLite format 3\0"):
        with TraceStore(name) as store:
            ids = ", ".join(run.run_id for run in islice(reversed(store.runs()), 5))
        raise InputError(f"{name!r} is a store; name a run of it, {name}#RUN; there is {ids or 'none'}")
    text = start.decode("utf-8-sig", "replace").lstrip()
    try:
        with Path(name).open(encoding="utf-8-sig", newline="") as lines:
            if text.startswith("{"):
                return _from_lines(lines)
            if "case_id" in text.split("\n", 1)[0]:
                return _from_table(lines, Path(name).stem)
    except (InputError, StoreVersionError, UnicodeDecodeError, csv.Error) as error:
        kind = type(error) if isinstance(error, StoreVersionError) else InputError
        raise kind(f"{name!r}: {error}") from error
    raise InputError(
        f"{name!r} begins with {text[:40]!r}; expected our JSON lines, a CSV table with the columns case_id "
        "and outcome, or a store and its run (runs.db#RUN)"
    )


def _from_lines(lines: TextIO) -> EvalRun:
    header = _header(lines.readline())
    results = []
    problem = ""
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            results.append(result_from(canonical.loads(line)))
        except InputError as error:
            if not line.endswith("\n"):
                problem = f"line {number} was cut off"
                break
            raise InputError(f"line {number}: {error}") from error
    meant = header["results"]
    if len(results) > meant:
        raise InputError(f"it holds {len(results)} results and says {meant}; write it again")
    if len(results) < meant:
        problem = f"{problem or 'the file was cut off'}: {len(results)} of {meant} results"
    run = header["run"]
    if problem:
        run |= {"complete": False, "problem": "; ".join(filter(None, [run["problem"], problem]))}
    return EvalRun(results=results, **run)


def _header(line: str) -> dict[str, Any]:
    header = canonical.loads(line)
    if header.get("format") != FORMAT:
        raise InputError(f"line 1 is {line[:60]!r}; expected the header of {FORMAT!r}")
    version, run = header.get("version"), header.get("run")
    if type(version) is int and version > VERSION:
        raise StoreVersionError(f"it is of version {version}; this kit reads {VERSION}: upgrade it")
    if version != VERSION or type(header.get("results")) is not int or not isinstance(run, dict):
        raise InputError(f"line 1 is no header of version {VERSION}; write the file again")
    if set(run) != set(_RUN_FIELDS):
        raise InputError(f"line 1: the run has {', '.join(run)}; expected {', '.join(_RUN_FIELDS)}")
    for name, (check, expected) in _RUN_CHECKS.items():
        if not check(run[name]):
            raise InputError(f"line 1: the run's {name} is {run[name]!r:.60}; expected {expected}")
    run["case_ids"] = tuple(run["case_ids"])
    return dict(header)


def _from_table(lines: Iterable[str], name: str) -> EvalRun:
    reader = csv.DictReader(lines, strict=True)
    columns = list(reader.fieldnames or [])
    if len(set(columns)) < len(columns):
        raise InputError(f"a column stands twice in {', '.join(columns)}; keep one of each")
    results = []
    for row in reader:
        try:
            # None is the key of what stands beyond the last column, and the value of what is short of it.
            if None in row or None in row.values():
                raise InputError(f"it has more or fewer cells than the {len(columns)} columns")
            told = {name: cell for name, cell in row.items() if cell != "" or name == "case_id"}
            results.append(result_from({name: _value(name, cell) for name, cell in told.items()}))
        except InputError as error:
            raise InputError(f"line {reader.line_num}: {error}") from error
    return EvalRun(run_id=name, system="", version=name, results=results, knows_its_set=False)


def _value(name: str, cell: str) -> Any:
    """Return what a cell means in its column; what it cannot mean stays text, for the check to refuse."""
    if name in _JSON_CELLS:
        return canonical.loads(cell)
    if name == "must_pass":
        return {"true": True, "false": False}.get(cell.lower(), cell)
    kind = {"repeat": int, "tokens": int, "weight": float, "score": float, "cost": float,
            "duration_ms": float}.get(name)  # fmt: skip
    try:
        return cell if kind is None else kind(cell)
    except ValueError:
        return cell


def _stored(path: str, run_id: str) -> EvalRun:
    if not Path(path).is_file():
        raise InputError(f"there is no store at {path!r}; expected STORE#RUN, such as runs.db#eval:v1")

    def traces(trace_id: str) -> Sequence[Event]:
        with TraceStore(path) as store:
            return store.events(trace_id)

    with TraceStore(path) as store:
        return replace(read_run(store, run_id), traces=traces)
