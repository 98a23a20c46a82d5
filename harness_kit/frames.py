"""Tables: what a run, a store or a result holds, as tidy pandas frames. Needs the extra `notebook`.

Columns have English names and codes; `korean(frame)` gives the same table with the learner's words.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from harness_kit.codes import ReviewStatus, SpendState, Stage, StopReason, TaskStatus
from harness_kit.extras import need
from harness_kit.labels import Word, label
from harness_kit.rolewords import RoleWord
from harness_kit.spends import SpendRow
from harness_kit.store import TraceStore
from harness_kit.trace import Event
from harness_kit.views import trace_rows

if TYPE_CHECKING:
    import pandas as pd

TRACE = {
    "seq": "int64", "stage": "str", "time": "str", "seconds": "float64", "units": "int64", "spent": "int64",
    "detail": "object",
}  # fmt: skip
SPENDING = {
    "step": "int64", "role": "str", "state": "str", "asked": "int64", "reserved": "int64", "spent": "int64",
    "limit": "int64",
}  # fmt: skip

CALLS = {
    "document": "str", "role": "str", "round": "int64", "rework": "bool", "refused": "bool",
    "waited": "float64", "start": "float64", "end": "float64",
}  # fmt: skip
WAYS = {"way": "str", "wall": "float64", "calls": "int64", "rework": "int64", "waited": "float64"}


def trace(events: Iterable[Event]) -> "pd.DataFrame":
    """One row a step of one run.

    Columns: `seq` (1, 2, …), `stage`, `time` (ISO 8601), `seconds` since the step before, `units` used in
    this step, `spent` units so far, `detail` (dict: the rest of the event).
    """
    return _frame(trace_rows(events), TRACE)


def events(store: TraceStore, run_id: str | None = None) -> "pd.DataFrame":
    """One row an event of a store, or of one of its runs: `run_id`, `seq`, `time`, `stage`, `data` (dict)."""
    columns: dict[str, list[Any]] = {name: [] for name in ("run_id", "seq", "time", "stage", "data")}
    # By column: a dict a row would double the memory of a large store.
    for event in store.iter_events(run_id):
        columns["run_id"].append(event.run_id)
        columns["seq"].append(event.seq)
        columns["time"].append(event.time)
        columns["stage"].append(event.stage)
        columns["data"].append(dict(event.data))
    pandas = need("pandas", "notebook")
    frame: pd.DataFrame = pandas.DataFrame({**columns, "seq": pandas.array(columns["seq"], dtype="int64")})
    return frame


def runs(store: TraceStore) -> "pd.DataFrame":
    """One row a run: `run_id`, `system`, `status`, `reason`, `passed`, `review`, `committed`, `cost`, `limit`
    (units), `started`, `ended`, `duration_ms`."""
    names = (
        "run_id", "system", "status", "reason", "passed", "review", "committed", "cost", "limit", "started",
        "ended", "duration_ms",
    )  # fmt: skip
    rows = ({name: getattr(row, name) for name in names} for row in store.runs())
    return _frame(rows, dict.fromkeys(names, "object"))


def tasks(rows: Iterable[Any]) -> "pd.DataFrame":
    """One row a task: `name`, `status`, `observation`, `summary` (None until there is one)."""
    picked = [{name: row[name] for name in ("name", "status", "observation", "summary")} for row in rows]
    return _frame(picked, dict.fromkeys(("name", "status", "observation", "summary"), "object"))


def outcomes(results: Sequence[tuple[str, Any]]) -> "pd.DataFrame":
    """One row a scenario of (name, result): what ended, was judged, decided and written, apart.

    Columns: `scenario`, `finished` (the reason), `passed`, `review`, `committed`, `cost` and `limit` (units).
    """
    rows = [
        {
            "scenario": name, "finished": result.reason and str(result.reason), "passed": result.passed,
            "review": str(result.review), "committed": result.committed,
            "cost": result.cost, "limit": result.limit,
        }
        for name, result in results
    ]  # fmt: skip
    columns = ("scenario", "finished", "passed", "review", "committed", "cost", "limit")
    return _frame(rows, {**dict.fromkeys(columns, "object"), "cost": "int64", "limit": "int64"})


def checks(result: Any) -> "pd.DataFrame":
    """One row a named check of a result: `check`, `passed`."""
    rows = [{"check": name, "passed": good} for name, good in result.checks.items()]
    return _frame(rows, {"check": "str", "passed": "bool"})


def spending(rows: Iterable[SpendRow], limit: int) -> "pd.DataFrame":
    """One row a reservation of a ledger, in the order of asking.

    Columns: `step` (1, 2, …), `role`, `state`, `asked` (units of this reservation), `reserved` (units that it
    held while its call ran; 0 where refused), `spent` (units settled after it), `limit`. All in units.
    """
    built, spent = [], 0
    for step, row in enumerate(rows, 1):
        spent += row.actual or 0
        refused = row.state is SpendState.REFUSED
        built.append(
            {
                "step": step,
                "role": row.role,
                "state": str(row.state),
                "asked": row.units,
                "reserved": 0 if refused else row.units,
                "spent": spent,
                "limit": limit,
            }
        )
    return _frame(built, SPENDING)


def calls(rows: Iterable[dict[str, Any]]) -> "pd.DataFrame":
    """One row a model call of `fanout.call_rows`: `document`, `role`, `round`, `rework`, `refused`, and
    `waited`, `start`, `end` in seconds."""
    return _frame(rows, CALLS)


def ways(rows: Iterable[dict[str, Any]]) -> "pd.DataFrame":
    """One row a way of working of `fanout.way_rows`: `way`, `wall` (s), `calls`, `rework`, `waited` (s)."""
    return _frame(rows, WAYS)


_COLUMN_WORDS: dict[str, StrEnum] = {
    "asked": Word.ASKED_UNITS, "check": Word.CHECK, "committed": Word.COMMITTED, "cost": Word.BUDGET,
    "detail": Word.DETAIL, "finished": Word.FINISHED, "limit": Word.LIMIT, "name": Word.TASK,
    "observation": Word.OBSERVATION, "passed": Word.PASSED, "reason": Word.REASON, "reserved": Word.RESERVED,
    "review": Word.REVIEW, "role": Word.ROLE, "scenario": Word.SCENARIO, "seconds": Word.SECONDS,
    "seq": Word.STEP, "spent": Word.SPENT, "stage": Word.STAGE, "state": Word.STATUS, "status": Word.STATUS,
    "step": Word.STEP, "summary": Word.SUMMARY, "time": Word.TIME, "units": Word.UNITS,
    "calls": Word.CALLS, "document": RoleWord.DOCUMENT, "end": RoleWord.END, "rework": RoleWord.REWORK,
    "refused": RoleWord.REVIEW_REFUSED, "round": RoleWord.ROUND, "start": RoleWord.START,
    "waited": RoleWord.WAITED, "wall": RoleWord.WALL, "way": RoleWord.WAY,
}  # fmt: skip
_CODES: dict[str, type[StrEnum]] = {
    "finished": StopReason, "reason": StopReason, "review": ReviewStatus, "stage": Stage, "state": SpendState,
    "status": TaskStatus, "role": RoleWord, "way": RoleWord,
}  # fmt: skip


def korean(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with Korean column names and words, for looking at; the codes stay in the original."""
    pandas = need("pandas", "notebook")
    shown = frame.copy()
    for name in frame.columns:
        kind = _CODES.get(name)
        words = [word(value, kind) for value in frame[name]]
        shown[name] = pandas.Series(words, index=frame.index, dtype=object)
    return shown.rename(columns={name: label(word) for name, word in _COLUMN_WORDS.items()})


def word(value: Any, kind: type[StrEnum] | None) -> Any:
    """Return the Korean word for a value of a table, or the value itself where there is none."""
    if value is None or value is True or value is False:
        return {None: "-", True: label(Word.YES), False: label(Word.NO)}[value]
    if kind is not None and value in set(kind):
        return label(kind(value))
    if isinstance(value, dict):
        return ", ".join(f"{name}={word(item, None)}" for name, item in value.items())
    return value


def _frame(rows: Iterable[dict[str, Any]], columns: dict[str, str]) -> "pd.DataFrame":
    """Build a frame that has its columns and their types even where there are no rows."""
    pandas = need("pandas", "notebook")
    # As objects first: left to itself, pandas turns a column's None into NaN.
    frame: pd.DataFrame = pandas.DataFrame(list(rows), columns=list(columns), dtype=object)
    return frame.astype({name: kind for name, kind in columns.items() if kind not in ("str", "object")})
