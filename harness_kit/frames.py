"""Tables: what a run, a store or a result holds, as tidy pandas frames. Needs the extra `notebook`.

Columns have English names and codes; `korean(frame)` gives the same table with the learner's words.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from harness_kit.codes import (
    Outcome,
    SpendState,
    TriggerStatus,
)
from harness_kit.compare import Comparison
from harness_kit.evals import score
from harness_kit.exports import save as save
from harness_kit.extras import need
from harness_kit.matrix import Matrix
from harness_kit.pairing import CaseSummary
from harness_kit.results import CaseResult, EvalRun
from harness_kit.spends import SpendRow
from harness_kit.store import TraceStore
from harness_kit.trace import Event
from harness_kit.triggers import Fired
from harness_kit.views import trace_rows
from harness_kit.wording import korean as korean
from harness_kit.wording import word as word

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


def comparison(comparison: Comparison) -> "pd.DataFrame":
    """One row a case of two runs, in the order of the first one's set, then what the second one adds.

    Columns: `case_id`, `bucket`, `cause` (None where nothing changed), `apart` (True where the case itself
    changed, so that it is not in the headline counts), `before` and `after` (how it stands), `score_before`
    and `score_after` (0 to 1), `expected_before`, `expected_after`, `actual_before`, `actual_after` and
    `reason` (of a repeat that passed before, and of one that does not now).
    """

    def rows() -> Iterator[dict[str, Any]]:
        for row, kind in zip(comparison.rows, comparison.rows.kinds, strict=True):
            was, now = _best(row.before, passing=True), _best(row.after, passing=False)
            yield {
                "case_id": row.case_id, "bucket": str(row.bucket), "cause": row.cause and str(row.cause),
                "apart": kind.changed, "before": str(kind.before), "after": str(kind.after),
                "score_before": row.before and row.before.score, "score_after": row.after and row.after.score,
                "expected_before": was and was.expected, "expected_after": now and now.expected,
                "actual_before": was and was.actual, "actual_after": now and now.actual,
                "reason": now.reason if now else "",
            }  # fmt: skip

    return _frame(rows(), {**dict.fromkeys(_COMPARISON, "object"), "apart": "bool"})


_COMPARISON = (
    "case_id", "bucket", "cause", "apart", "before", "after", "score_before", "score_after",
    "expected_before", "expected_after", "actual_before", "actual_after", "reason",
)  # fmt: skip


def _best(case: CaseSummary | None, *, passing: bool) -> CaseResult | None:
    return None if case is None else case.shown(passing=passing)


def buckets(comparison: Comparison) -> "pd.DataFrame":
    """One row a bucket, empty ones too: `bucket`, `cases` (unchanged ones), `apart` (cases that changed
    themselves). Both columns together add up to the comparison's rows."""
    rows = [
        {
            "bucket": str(bucket),
            "cases": count,
            "apart": sum(one[bucket] for one in comparison.apart.values()),
        }
        for bucket, count in comparison.counts.items()
    ]
    return _frame(rows, {"bucket": "str", "cases": "int64", "apart": "int64"})


def divergences(comparison: Comparison) -> "pd.DataFrame":
    """One row a stage at which regressed cases part, most first: `stage`, `cases`."""
    rows = ({"stage": str(stage), "cases": count} for stage, count in comparison.divergence_stages().items())
    return _frame(rows, {"stage": "str", "cases": "int64"})


def matrix(matrix: Matrix) -> "pd.DataFrame":
    """One row a case: `case_id`, how it stands in each version (a column each), and `introduced` (the first
    version that lost it and did not mend it; None where there is none)."""
    lost = {one.case_id: one.failed_in for one in reversed(matrix.introduced) if one.mended_in is None}
    pandas = need("pandas", "notebook")
    table = [[case_id, *map(str, row), lost.get(case_id)] for case_id, row in matrix.cells.items()]
    frame: pd.DataFrame = pandas.DataFrame(
        table, columns=["case_id", *matrix.versions, "introduced"], dtype=object
    )
    return frame


def results(run: EvalRun) -> "pd.DataFrame":
    """One row a result: `case_id`, `repeat`, `outcome`, `score` (0 to 1), `expected`, `actual`, `reason`,
    `review`, `cost` (units)."""
    columns = ("case_id", "repeat", "outcome", "score", "expected", "actual", "reason", "review", "cost")
    rows = [{name: _plain(getattr(result, name)) for name in columns} for result in run.results]
    return _frame(rows, {**dict.fromkeys(columns, "object"), "repeat": "int64"})


def scores(runs: Sequence[EvalRun]) -> "pd.DataFrame":
    """One row a version: `version`, `passed` and `cases` (counts), `score`, `low` and `high` (0 to 1).

    The interval is Wilson's at 95 %, over the cases that were selected.
    """
    binomial = need("scipy.stats", "notebook").binomtest
    rows = []
    for run in runs:
        counted = [result for result in run.results if result.outcome is not Outcome.NOT_SELECTED]
        passed = sum(result.outcome is Outcome.PASSED for result in counted)
        span = binomial(passed, len(counted)).proportion_ci(method="wilson") if counted else (0.0, 1.0)
        rows.append(
            {
                "version": run.version,
                "passed": passed,
                "cases": len(counted),
                "score": score(run),
                "low": float(span[0]),
                "high": float(span[1]),
            }
        )
    kinds = {"version": "str", "passed": "int64", "cases": "int64"}
    return _frame(rows, {**kinds, "score": "float64", "low": "float64", "high": "float64"})


def side_by_side(before: Iterable[Event], after: Iterable[Event]) -> "pd.DataFrame":
    """One row a step of two traces: `seq`, `stage`, `before`, `after` (dicts), `same`."""
    rows = []
    for left, right in zip_longest(before, after):
        known = left or right
        was, now = (dict(event.data) if event else None for event in (left, right))
        rows.append({"seq": known.seq, "stage": known.stage, "before": was, "after": now, "same": was == now})
    return _frame(
        rows, {"seq": "int64", "stage": "str", "before": "object", "after": "object", "same": "bool"}
    )


def triggers(fired: Iterable[Fired], units: int) -> "pd.DataFrame":
    """One row a trigger: `trigger`, `source`, `trigger_status`, `asked`, `spent` (units, after it),
    `refused` (units that did not fit), `limit`, `alert`."""
    rows = [
        {
            "trigger": one.trigger.id,
            "source": str(one.trigger.source),
            "trigger_status": str(one.status),
            "asked": units,
            "spent": one.spent,
            "refused": units if one.status is TriggerStatus.BLOCKED else 0,
            "limit": one.limit,
            "alert": str(one.alert.kind) if one.alert else None,
        }
        for one in fired
    ]
    columns = ("trigger", "source", "trigger_status", "asked", "spent", "refused", "limit", "alert")
    return _frame(
        rows,
        {
            **dict.fromkeys(columns, "object"),
            **dict.fromkeys(("asked", "spent", "refused", "limit"), "int64"),
        },
    )


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, StrEnum) else value


def _frame(rows: Iterable[dict[str, Any]], columns: dict[str, str]) -> "pd.DataFrame":
    """Build a frame that has its columns and their types even where there are no rows."""
    pandas = need("pandas", "notebook")
    # As objects first: left to itself, pandas turns a column's None into NaN.
    frame: pd.DataFrame = pandas.DataFrame(list(rows), columns=list(columns), dtype=object)
    return frame.astype({name: kind for name, kind in columns.items() if kind not in ("str", "object")})
