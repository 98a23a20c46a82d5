"""Chapter 04: three documents become one report, and nothing is written that nobody approved.

result = run(limit=6)
result.reason, result.passed, result.committed     # ended, judged, written: three answers
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_kit.approval import Approver
from harness_kit.approvers import ScriptedApprover, ask
from harness_kit.budget import Budget
from harness_kit.codes import Decision, ReviewStatus, RunStatus, StopReason
from harness_kit.labels import Word, label
from harness_kit.models import Model
from harness_kit.scenarios.document_run import ApprovalGateRun
from harness_kit.scenarios.documents import (
    PROCEDURE,
    RECORDS,
    REPORT,
    Expectation,
    Scenario,
    document_model,
    scenarios,
    shipped_documents,
    story,
)
from harness_kit.spends import SpendRow
from harness_kit.store import TraceStore
from harness_kit.trace import Clock, Event, fixed_clock

__all__ = [
    "ApprovalGateRun",
    "Budget",
    "Expectation",
    "Result",
    "Scenario",
    "approvers",
    "document_model",
    "drive",
    "lines",
    "result_of",
    "results",
    "run",
    "scenarios",
    "shipped_documents",
]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one run showed. Ended, judged, decided and written are four answers."""

    run_id: str
    status: RunStatus
    reason: StopReason | None
    """Why it ended; None while it waits."""
    passed: bool | None
    """Whether its behaviour was as expected; None where nothing was expected."""
    review: ReviewStatus
    committed: bool
    """Whether the report was written."""
    cost: int
    """Units."""
    limit: int
    calls: int
    tasks: tuple[Mapping[str, Any], ...]
    ignored: int
    checks: Mapping[str, bool]
    records: str
    """Whether run.json and evaluation.json were kept: 'saved', 'refused' or 'pending'."""
    error: str | None
    """What was wrong with an input or an action, in words."""
    report: str | None
    """Text of the report on disk; None where there is none."""
    files: tuple[str, ...]
    """Names of the files in the run's folder afterwards."""
    events: tuple[Event, ...]
    ledger: tuple[SpendRow, ...]
    """Every reservation of the run, refused ones included."""
    started: str
    ended: str | None
    duration_ms: int | None


def drive(run: ApprovalGateRun, approvers: Mapping[str, Approver]) -> None:
    """Step `run` to its end, answering each question by the approver for its purpose; HOLD stops it there."""
    while not run.finished:
        question = run.pending
        if question is not None:
            approver = approvers.get(question.purpose)
            answer = ask(approver, question) if approver is not None else None
            if answer is None or run.answer(answer.approval) is Decision.HOLD:
                return
        if run.status is not RunStatus.READY:
            return
        run.step()


def run(
    *,
    limit: int = 6,
    approval: Decision | Approver = Decision.APPROVED,
    change_after_approval: str = "",
    documents: Mapping[str, str] | None = None,
    title: str | None = None,
    audit_approval: Decision | Approver = Decision.APPROVED,
    expected: Expectation | None = None,
    model: Model | None = None,
    root: str | Path | None = None,
    store: TraceStore | None = None,
    clock: Clock | None = None,
    run_id: str = "approval_gate",
) -> Result:
    """Run the harness once and return what it showed.

    Without `root` it works in a folder of its own that is removed afterwards; without `clock` at the
    chapter's fixed time. `approval` and `audit_approval` are a scripted decision or any approver.
    """
    time = fixed_clock(story()["time"]) if clock is None else clock
    with _folder(root) as folder:
        budget = Budget(limit) if store is None else Budget(limit, store=store, name=run_id)
        work = ApprovalGateRun(
            run_id, folder, clock=time, budget=budget, store=store, documents=documents, title=title,
            change_after_approval=change_after_approval, expected=expected, model=model,
        )  # fmt: skip
        drive(work, approvers(approval, audit_approval, time))
        return result_of(work)


def approvers(
    approval: Decision | Approver, audit_approval: Decision | Approver, clock: Clock
) -> dict[str, Approver]:
    """Return who answers what: the inputs are always approved, report and records as given."""

    def person(answer: Decision | Approver) -> Approver:
        if not isinstance(answer, Decision):
            return answer
        if answer is Decision.HOLD:
            return lambda proposal: None
        return ScriptedApprover(decision=answer, approver=story()["approver"], clock=clock)

    return {
        label(Word.PURPOSE_INPUT): person(Decision.APPROVED),
        label(Word.PURPOSE_REPORT): person(approval),
        label(Word.PURPOSE_RECORDS): person(audit_approval),
    }


def result_of(work: ApprovalGateRun) -> Result:
    """Return the values of a run as it stands."""
    state, record = work.state, work.record()
    report = work.reports.read_text(REPORT) if work.reports.exists(REPORT) else None
    names = [name for name in (*work.documents, PROCEDURE) if work.inputs.exists(name)]
    names += [name for name in RECORDS if work.records.exists(name)]
    return Result(
        run_id=work.run_id, status=work.status, reason=work.reason, passed=record["passed"],
        review=ReviewStatus(record["review"]), committed=record["committed"], cost=work.cost,
        limit=work.budget.limit, calls=state["calls"], tasks=tuple(dict(task) for task in state["tasks"]),
        ignored=state["ignored"], checks=dict(state["checks"]), records=state["records"] or "pending",
        error=state["error"], report=report, files=(*names, *([REPORT] if report is not None else [])),
        events=tuple(work.events), ledger=tuple(work.budget.rows()), started=record["started"],
        ended=record["ended"],
        duration_ms=record["duration_ms"],
    )  # fmt: skip


def results(*, store: TraceStore | None = None) -> list[tuple[Scenario, Result]]:
    """Run the chapter's four scenarios, each in a folder of its own."""
    return [
        (
            scenario,
            run(
                limit=scenario.limit, approval=scenario.decision, expected=scenario.expected, store=store,
                change_after_approval=scenario.change_after_approval, run_id=f"approval_gate:{scenario.id}",
            ),
        )
        for scenario in scenarios()
    ]  # fmt: skip


def lines() -> list[str]:
    """Return what the chapter prints."""
    ran = results()
    presence = {True: label(Word.REPORT_PRESENT), False: label(Word.REPORT_ABSENT)}
    judged = {True: label(Word.PASSED), False: label(Word.FAILED)}
    printed = [
        f"{scenario.name}: {label(Word.REASON)}={label(result.reason) if result.reason else '-'}, "
        f"{label(Word.COST)}={result.cost}, "
        f"{label(Word.REPORT)}={presence[result.report is not None]}, "
        f"{label(Word.EVALUATION)}={judged[bool(result.passed)]}"
        for scenario, result in ran
    ]
    good = sum(bool(result.passed) for _, result in ran)
    return [*printed, f"{label(Word.ALL_CASES)}: {good}/{len(ran)} {label(Word.PASSED)}"]


@contextmanager
def _folder(root: str | Path | None) -> Iterator[Path]:
    if root is not None:
        yield Path(root)
        return
    with tempfile.TemporaryDirectory(prefix="harness-kit-") as folder:
        yield Path(folder).resolve()
