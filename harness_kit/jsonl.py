"""Traces as JSON lines, to send to somebody or to keep in a repository.

    export_jsonl(store, "runs.jsonl")
    import_jsonl(other, "runs.jsonl")

A header line, then for each run a `run` line, its `event` lines in order and its `result` lines, each as
canonical JSON: the same store gives the same bytes. Checkpoints and the decision chain stay in the store.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from harness_kit import canonical
from harness_kit.errors import InputError, StoreError, StoreVersionError
from harness_kit.records import RunRecord
from harness_kit.store import TraceStore
from harness_kit.trace import Event

FORMAT = "harness_kit.trace"
VERSION = 1
_BATCH = 5_000
_RUN_FIELDS = frozenset(RunRecord.__annotations__)


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What an import brought in."""

    runs: int
    events: int
    results: int
    torn: str | None
    """The last line, where it was cut off and therefore left out; None where the file is whole."""


def export_jsonl(
    store: TraceStore, target: str | os.PathLike[str] | TextIO, run_ids: Iterable[str] | None = None
) -> int:
    """Write all runs, or those of `run_ids`, in the store's order; return the number of runs.

    A file is replaced as a whole, or, after any error, not at all. `InputError` for an unknown run.
    """
    if isinstance(run_ids, str):
        raise InputError(f"run_ids is the text {run_ids!r}; put the ids into a list")
    with store.snapshot():
        wanted = None if run_ids is None else {store.run(run_id).run_id for run_id in run_ids}
        runs = [run for run in store.runs() if wanted is None or run.run_id in wanted]
        lines = (canonical.text(record) + "\n" for record in _records(store, runs))
        if isinstance(target, str | os.PathLike):
            replace_file(Path(target), lines)
        else:
            target.writelines(lines)
    return len(runs)


def _records(store: TraceStore, runs: list[RunRecord]) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT, "version": VERSION}
    for run in runs:
        yield {"run": {name: getattr(run, name) for name in _RUN_FIELDS} | {"data": dict(run.data)}}
        for event in store.iter_events(run.run_id):
            yield {"event": vars(event) | {"data": dict(event.data)}}
        for name, data in store.results(run.run_id).items():
            yield {"result": {"run_id": run.run_id, "name": name, "data": data}}


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """Write beside the file and rename over it, so that a reader never sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {str(path)!r}: {error}; the file is as it was") from error
    finally:
        beside.unlink(missing_ok=True)


def import_jsonl(store: TraceStore, source: str | os.PathLike[str] | TextIO) -> ImportReport:
    """Bring all runs of an export into the store, or, after any error, none.

    A last line that was cut off is reported and left out. Any other line that is not as it should be is an
    error of the tree that names file and line: `InputError`, `SequenceError` for a gap in a run's events,
    `DuplicateRunError` for a run that the store or the file has already.
    """
    if not isinstance(source, str | os.PathLike):
        lines = (line.encode("utf-8", "surrogatepass") for line in source)
        return _import(store, lines, getattr(source, "name", "the stream"))
    try:
        with Path(source).open("rb") as file:
            return _import(store, file, os.fspath(source))
    except OSError as error:
        raise InputError(f"cannot read {os.fspath(source)!r}: {error.strerror}; name an export") from error


def _import(store: TraceStore, lines: Iterable[bytes], name: object) -> ImportReport:
    number, torn = 0, None
    intake = _Intake(store)
    with store.transaction():
        try:
            for number, line in enumerate(lines, start=1):
                try:
                    # An editor on Windows may have put a byte order mark before the header.
                    record = canonical.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                except (InputError, UnicodeDecodeError) as error:
                    if number > 1 and not line.endswith(b"\n"):
                        torn = f"line {number} was cut off after {len(line)} bytes: {_start(line)}"
                        break
                    raise InputError(f"{_start(line)} is no JSON ({error}); restore the line") from error
                intake.take(number, record)
            if not number:
                raise InputError("it is empty; an export begins with a header line")
            intake.flush()
        except (InputError, StoreError) as error:
            where = f"{name}, line {intake.line or number}: " if number else f"{name}: "
            raise type(error)(f"{where}{error}") from error
    return ImportReport(runs=len(intake.runs), events=intake.events, results=intake.results, torn=torn)


def _start(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace"))


class _Intake:
    """Takes one record after another; events are stored in batches."""

    def __init__(self, store: TraceStore) -> None:
        self.store = store
        self.runs: set[str] = set()
        self.events = self.results = 0
        self.line = 0
        """The line to blame, where it is not the one just read."""
        self._waiting: list[tuple[int, Event]] = []

    def take(self, number: int, record: Any) -> None:
        if number == 1:
            _check_header(record)
        elif not isinstance(record, dict) or len(record) != 1:
            raise InputError(f"{str(record)[:60]!r} is no trace line; expected one run, event or result")
        elif "event" in record:
            event = Event.from_record(record["event"])
            self._known(event.run_id)
            self._waiting.append((number, event))
            if len(self._waiting) >= _BATCH:
                self.flush()
        elif "run" in record:
            self._run(record["run"])
        elif "result" in record:
            result = record["result"]
            if not isinstance(result, dict) or set(result) != {"run_id", "name", "data"}:
                raise InputError(f"result {str(result)[:60]!r}; expected run_id, name and data")
            self._known(result["run_id"])
            self.store.put_result(result["run_id"], result["name"], result["data"])
            self.results += 1
        else:
            raise InputError(f"{next(iter(record))!r} is no kind of line; expected run, event or result")

    def flush(self) -> None:
        """Store the waiting events; where one does not fit, find which."""
        events = [event for _, event in self._waiting]
        try:
            self.events += self.store.append(events)
        except StoreError:
            for number, event in self._waiting:
                self.line = number
                self.store.append([event])
            raise
        self._waiting.clear()

    def _run(self, record: Any) -> None:
        if not isinstance(record, dict) or set(record) != _RUN_FIELDS:
            raise InputError(
                f"run {str(record)[:60]!r}; expected the fields {', '.join(sorted(_RUN_FIELDS))}"
            )
        fields = dict(record)
        run_id = fields.pop("run_id")
        begun = {name: fields.pop(name) for name in ("system", "version", "started", "data")}
        self.store.open_run(run_id, **begun)
        self.store.update_run(run_id, **fields)
        self.runs.add(run_id)

    def _known(self, run_id: object) -> None:
        if run_id not in self.runs:
            raise InputError(f"run {run_id!r} has no line before this one; restore its run line")


def _check_header(record: Any) -> None:
    if not isinstance(record, dict) or record.get("format") != FORMAT or set(record) != {"format", "version"}:
        raise InputError(f"{str(record)[:60]!r} is no header of a trace export; name a file of export_jsonl")
    version = record["version"]
    if type(version) is not int or version < 1:
        raise InputError(f"version {version!r} is no whole number; name a file of export_jsonl")
    if version > VERSION:
        raise StoreVersionError(f"version {version} is newer than {VERSION}, this kit's; upgrade harness-kit")
