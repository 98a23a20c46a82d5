"""Evaluation sets: cases with input, expectation and criterion, read from and written to JSONL or CSV.

Beside `cases.jsonl` may stand `cases.changes.jsonl`, the log of what was changed and why. Where it stands,
a case whose input, expectation or criterion is not the logged one is an error: an expectation that was
quietly edited to suit a new version would make every comparison mean something else.
"""

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness_kit import canonical
from harness_kit.errors import CanonicalError, InputError
from harness_kit.graders import grader_hash, named
from harness_kit.results import CaseResult

_FIELDS = ("id", "input", "expected", "criterion", "human", "tags", "weight", "must_pass")
_WATCHED = ("input", "expected", "criterion")
"""What a change log watches."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case. `InputError` where a field is not what is said below."""

    id: str
    """Joins runs and versions; never blank, never a position."""
    input: Any
    expected: Any
    """Plain JSON both; written down from the requirement, not copied from what came out."""
    criterion: str = "ordered_exact"
    """Name of a grader."""
    human: bool = False
    """True where a person has to look, whatever the grader says."""
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    """Share of the score, more than 0."""
    must_pass: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id.strip() or not self.id.isprintable():
            raise InputError(
                f"case id {self.id!r} is blank, null or not printable; give each case a short name"
            )
        named(self.criterion)
        for name in ("human", "must_pass"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(
                    f"case {self.id!r}: {name} is {getattr(self, name)!r}; expected true or false"
                )
        weight = self.weight
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
            raise InputError(f"case {self.id!r}: weight is {weight!r}; expected a number more than 0")
        tags: Any = self.tags
        if isinstance(tags, str) or not all(isinstance(tag, str) and tag.strip() for tag in tags):
            raise InputError(f"case {self.id!r}: tags are {tags!r}; expected a list of words")
        object.__setattr__(self, "tags", tuple(self.tags))
        try:
            self.hashes  # noqa: B018 - computed now, so that what is no plain JSON is refused here
        except CanonicalError as error:
            raise InputError(f"case {self.id!r}: {error}") from error

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Fingerprints of input, expected and criterion (with its grader's code), by those names."""
        return {
            "input": canonical.fingerprint(self.input),
            "expected": canonical.fingerprint(self.expected),
            "criterion": grader_hash(self.criterion),
        }

    @property
    def logged(self) -> dict[str, str]:
        """What a change log holds of the case; the criterion by name, since its code changes with the kit."""
        return {**self.hashes, "criterion": canonical.fingerprint(self.criterion)}

    def record(self) -> dict[str, Any]:
        """Return plain JSON data from which `from_record` rebuilds the case."""
        return {**{name: getattr(self, name) for name in _FIELDS}, "tags": list(self.tags)}

    @classmethod
    def from_record(cls, record: Any) -> "Case":
        """Build a case; `InputError` where a field is missing or unknown."""
        if not isinstance(record, dict):
            raise InputError(f"{str(record)[:60]!r} is no case; expected an object with {', '.join(_FIELDS)}")
        unknown, missing = set(record) - set(_FIELDS), {"id", "input", "expected"} - set(record)
        if unknown or missing:
            raise InputError(
                f"case {record.get('id')!r} lacks {sorted(missing)} and has unknown {sorted(unknown)}; "
                f"a case has {', '.join(_FIELDS)}"
            )
        return cls(**record)


@dataclass(frozen=True)
class EvalSet:
    """Cases in order, with ids that are all different."""

    cases: tuple[Case, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", tuple(self.cases))
        seen: set[str] = set()
        for case in self.cases:
            if not isinstance(case, Case):
                raise InputError(
                    f"{str(case)[:60]!r} is no Case; build one with Case(id=…, input=…, expected=…)"
                )
            if case.id in seen:
                raise InputError(f"case id {case.id!r} stands twice; give each case an id of its own")
            seen.add(case.id)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, case_id: str) -> Case:
        for case in self.cases:
            if case.id == case_id:
                return case
        raise InputError(
            f"there is no case {case_id!r}; there are {', '.join(case.id for case in self.cases[:8])} …"
        )

    @cached_property
    def hash(self) -> str:
        """Fingerprint of the set's content; the order of its cases does not matter."""
        return canonical.fingerprint(
            {case.id: {**case.record(), "grader": case.hashes["criterion"]} for case in self.cases}
        )

    def with_case(self, case: Case) -> "EvalSet":
        """Return the set with one case more."""
        return EvalSet((*self.cases, case))

    def add_from(
        self,
        result: CaseResult,
        *,
        id: str,
        expected: Any,
        reason: str,
        redact: Callable[[Any], Any] = lambda value: value,
    ) -> "EvalSet":
        """Turn what happened into a case: the input of `result`'s case, `redact`ed, with what it should give.

        `expected` is written down by whoever adds it; `reason` says why the case is worth keeping.
        """
        if not reason.strip():
            raise InputError(f"case {id!r} needs a reason; say what it guards against")
        source = self[result.case_id]
        tags = (*source.tags, f"from:{result.case_id}")
        return self.with_case(
            replace(source, id=id, input=redact(source.input), expected=expected, tags=tags)
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "EvalSet":
        """Read `.jsonl` or `.csv`; `InputError` names file, line and remedy, before anything runs.

        A CSV has the columns of a case; `input` and `expected` are text, `input_json` and `expected_json`
        hold JSON, `tags` are separated by blanks.
        """
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputError(
                f"{str(file)!r} cannot be read: {error.strerror}; name a file of cases"
            ) from error
        except UnicodeDecodeError as error:
            raise InputError(f"{str(file)!r} is not UTF-8 at byte {error.start}; save it as UTF-8") from error
        rows = _csv_rows(text) if file.suffix.lower() == ".csv" else _json_rows(text)
        cases = []
        for line, row in _numbered(file, rows):
            try:
                cases.append(Case.from_record(row))
            except (InputError, TypeError) as error:
                raise InputError(f"{file.name}, line {line}: {error}") from error
        if not cases:
            raise InputError(f"{str(file)!r} holds no case; write at least one")
        loaded = cls(tuple(cases))
        _hold_against_log(loaded, file)
        return loaded

    def write(self, path: str | os.PathLike[str], *, reason: str = "") -> None:
        """Write `.jsonl` and log what changed against the log beside it.

        `InputError` where a logged case changes and no `reason` is given; nothing is written then.
        """
        file = Path(path)
        if file.suffix.lower() != ".jsonl":
            raise InputError(f"{str(file)!r}: cases are written as .jsonl; CSV is for reading")
        log = change_log(file)
        held = _logged(log)
        changes = []
        for case in self.cases:
            for name in _WATCHED:
                old, new = held.get((case.id, name)), case.logged[name]
                if old == new:
                    continue
                if old is not None and not reason.strip():
                    raise InputError(
                        f"case {case.id!r}: {name} changed; give a reason, or leave it as it was"
                    )
                changes.append(
                    {"case": case.id, "field": name, "old": old, "new": new, "reason": reason or "new case"}
                )
        for target, rows in ((log, [*_json_lines(log), *map(canonical.text, changes)]),
                             (file, [canonical.text(case.record()) for case in self.cases])):  # fmt: skip
            draft = target.with_name(target.name + ".part")
            draft.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")
            draft.replace(target)


def change_log(path: Path) -> Path:
    """Return where the change log of a set stands."""
    return path.with_name(f"{path.stem}.changes.jsonl")


def _hold_against_log(loaded: EvalSet, file: Path) -> None:
    log = change_log(file)
    if not log.exists():
        return
    held = _logged(log)
    for case in loaded:
        for name in _WATCHED:
            logged = held.get((case.id, name))
            if logged != case.logged[name]:
                raise InputError(
                    f"{file.name}: {name} of case {case.id!r} was changed without a reason ({log.name} does "
                    "not know it); undo the edit, or load without the log and write(path, reason=…)"
                )


def _logged(log: Path) -> dict[tuple[str, str], str]:
    held = {}
    for number, line in enumerate(_json_lines(log), 1):
        try:
            row = canonical.loads(line)
            held[row["case"], row["field"]] = row["new"]
        except (CanonicalError, KeyError, TypeError) as error:
            raise InputError(
                f"{log.name}, line {number}: no entry of a change log; mend or remove it"
            ) from error
    return held


def _json_lines(log: Path) -> list[str]:
    return [line for line in log.read_text(encoding="utf-8").splitlines() if line] if log.exists() else []


def _json_rows(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _csv_rows(text: str) -> Iterator[tuple[int, Any]]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    for row in reader:
        yield reader.line_num, row


def _numbered(file: Path, rows: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    try:
        for line, row in rows:
            try:
                yield line, canonical.loads(row) if isinstance(row, str) else _from_csv(row)
            except CanonicalError as error:
                raise InputError(f"{file.name}, line {line}: {error}") from error
    except csv.Error as error:
        raise InputError(f"{file.name}: not CSV: {error}") from error


def _from_csv(row: Mapping[str | None, Any]) -> dict[str, Any]:
    if None in row or None in row.values():
        raise InputError(
            f"row {dict(row)!r} has not as many cells as the header; quote cells that hold commas"
        )
    made: dict[str, Any] = {}
    for name, cell in row.items():
        if name in ("input_json", "expected_json"):
            made[name.removesuffix("_json")] = canonical.loads(cell)
        elif name in ("human", "must_pass"):
            if cell.lower() not in ("true", "false", ""):
                raise InputError(f"{name} is {cell!r}; write true or false")
            made[name] = cell.lower() == "true"
        elif name == "tags":
            made[name] = tuple(cell.split())
        elif name == "weight":
            made[name] = json.loads(cell) if cell else 1.0
        elif name is not None:
            made[name] = cell
    return made
