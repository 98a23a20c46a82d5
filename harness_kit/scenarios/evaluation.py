"""Chapter 03: the same cases, two versions, what improved, what was lost, and at which step.

    before, after = run("v1"), run("v2")
    compared(before, after)

Both versions carry their known faults on purpose: v1 keeps blanks and repeats, v2 mends that and sorts.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness_kit import canonical
from harness_kit.budget import Budget
from harness_kit.cases import Case, EvalSet
from harness_kit.codes import Outcome, ReviewStatus, TriggerSource
from harness_kit.evals import evaluate, score
from harness_kit.labels import Word, label
from harness_kit.resources import data_path
from harness_kit.results import CaseResult, EvalRun
from harness_kit.store import TraceStore
from harness_kit.trace import fixed_clock
from harness_kit.triggers import Fired, Trigger, fire_in_order

Clean = Callable[[list[str]], list[str]]


def keep_all(items: list[str]) -> list[str]:
    """v1: hand the items on as they are."""
    return list(items)


def sort_unique(items: list[str]) -> list[str]:
    """v2: drop blanks and repeats, and lose the order on the way."""
    return sorted({item for item in items if item})


def keep_first(items: list[str]) -> list[str]:
    """v2 mended: drop blanks and later repeats, keep the order."""
    return list(dict.fromkeys(item for item in items if item))


@dataclass(frozen=True)
class CleanItems:
    """The harness under evaluation: a scripted model plans, one tool cleans the list."""

    version: str
    clean: Clean
    name: str = "clean_items"

    def __call__(self, text: str, note: Callable[..., None]) -> list[str]:
        """Split at commas, trim, and hand the items to the tool."""
        items = [part.strip() for part in text.split(",")]
        note("model", tool=self.name, items=items)
        cleaned = self.clean(items)
        note("tool", items=cleaned)
        return cleaned


V1, V2, V2_MENDED = CleanItems("v1", keep_all), CleanItems("v2", sort_unique), CleanItems("v2", keep_first)
MIXED = Case(id="mixed", input="검토, , 검토, 발송", expected=["검토", "발송"])
"""The case of the second exercise."""


def shipped_cases() -> EvalSet:
    """Return the chapter's four cases."""
    return EvalSet.read(data_path("evaluation", "cases.jsonl"))


def _plan() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(data_path("evaluation", "triggers.json").read_text("utf-8"))
    return loaded


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """What the chapter shows."""

    before: EvalRun
    after: EvalRun
    fired: list[Fired]
    records: int
    """Events kept in the store, over evaluations and automatic runs."""

    def changed(self, *, passed: bool) -> list[str]:
        """Return the cases that pass now and did not (`passed`), or passed and do not now."""
        was = {result.case_id: result.outcome is Outcome.PASSED for result in self.before.results}
        return [
            result.case_id
            for result in self.after.results
            if (result.outcome is Outcome.PASSED) is passed and was[result.case_id] is not passed
        ]


def run(
    *,
    store: TraceStore | None = None,
    cases: EvalSet | None = None,
    after: CleanItems = V2,
    limit: int | None = None,
) -> Chapter:
    """Evaluate both versions, fire the triggers, and return what came out."""
    plan = _plan()
    clock = fixed_clock(plan["time"])
    chosen = shipped_cases() if cases is None else cases
    kept = TraceStore(":memory:") if store is None else store
    old = evaluate(V1, chosen, store=kept, clock=clock)
    new = evaluate(after, chosen, store=kept, clock=clock)
    allowed = plan["limit"] if limit is None else limit
    budget = Budget(allowed, store=kept, name=f"auto:{after.version}")

    def start(trigger: Trigger, run_id: str) -> bool:
        result = evaluate(after, [chosen[trigger.case]], store=kept, clock=clock, run_id=run_id)
        return result.results[0].outcome is Outcome.PASSED

    fired = fire_in_order(
        (
            Trigger(id=row["id"], source=TriggerSource(row["source"]), case=row["case"])
            for row in plan["triggers"]
        ),
        start,
        budget,
        units=sum(plan["units"].values()),
        name_run=lambda trigger: f"auto:{after.version}:{trigger.id}",
    )
    return Chapter(before=old, after=new, fired=fired, records=kept.count_events())


def pending(run: EvalRun) -> int:
    """Return how many results wait for a person."""
    return sum(result.review is ReviewStatus.PENDING for result in run.results)


def lines(**arguments: Any) -> list[str]:
    """Return what the chapter prints."""
    told = run(**arguments)
    out = [*_report(told.before), *_report(told.after)]
    for word, passed in ((Word.IMPROVED, True), (Word.REGRESSED, False)):
        out.append(f"{label(word)}: " + (", ".join(told.changed(passed=passed)) or label(Word.NONE)))
    for case_id in told.changed(passed=False):
        out += _trace(told.after, case_id)
    return [
        *out,
        *_automatic(told.fired),
        f"{label(Word.TRACES_KEPT)}: {told.records}{label(Word.RECORDS_SUFFIX)}",
    ]


def _report(run: EvalRun) -> Iterable[str]:
    passed = sum(result.outcome is Outcome.PASSED for result in run.results)
    yield (
        f"{run.version}: {passed}/{len(run.results)} {label(Word.PASSED)}, "
        f"{label(Word.POINTS)} {score(run) * 100:.1f}, "
        f"{label(Word.PENDING_REVIEW)} {pending(run)}{label(Word.CASES_SUFFIX)}"
    )
    for result in run.results:
        if result.outcome is not Outcome.PASSED:
            yield from _failure(run, result)


def _failure(run: EvalRun, result: CaseResult) -> Iterable[str]:
    expected, actual = _json(result.expected), _json(result.actual)
    answers = f"{label(Word.EXPECTED)}={expected}, {label(Word.ACTUAL)}={actual}"
    yield f"  {label(Word.FAILED)} {result.case_id}: {answers}"
    steps = run.traces(result.trace_id) if run.traces and result.trace_id else ()
    yield f"    {label(Word.TRACE)} " + " → ".join(f"{event.seq}:{event.stage}" for event in steps)


def _trace(run: EvalRun, case_id: str) -> Iterable[str]:
    result = next(one for one in run.results if one.case_id == case_id)
    yield f"{label(Word.REGRESSED_CASE)}: {result.trace_id}"
    for event in run.traces(result.trace_id) if run.traces and result.trace_id else ():
        yield f"  {event.seq} {event.stage} {_json(dict(event.data))}"


def _automatic(fired: list[Fired]) -> Iterable[str]:
    limit = fired[0].limit if fired else 0
    yield f"{label(Word.AUTOMATIC_RUNS)}: {label(Word.LIMIT)} {limit}{label(Word.UNITS)}"
    for one in fired:
        spent = f"{label(Word.SPENT)} {one.spent}/{one.limit}"
        yield f"  {label(one.trigger.source)} {one.trigger.id}: {label(one.status)}, {spent}"
    for one in fired:
        if one.alert is not None:
            yield f"  {label(Word.ALERT)}: {label(one.alert.kind)} {one.alert.run_id}"


def _json(value: Any) -> str:
    """As the chapter prints values: sorted keys, Hangul as it is, a blank after each comma and colon."""
    return json.dumps(canonical.loads(canonical.dumps(value)), ensure_ascii=False, sort_keys=True)
