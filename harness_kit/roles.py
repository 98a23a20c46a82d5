"""Writer, reviewers, coordinator: several roles over one file, where each decision has one owner.

    done = coordinate(
        spec, writer, reviewers, rounds=3, tests={"title": has_title}, workspace=workspace,
        budget=Budget(20), clock=clock, approver=person,
    )
    done.reason, done.committed, done.calls        # ended, written, and what it took

The writer returns candidates, a reviewer returns a verdict on one, and the coordinator alone writes: what
all reviewers passed, the independent tests passed and a person approved, to the byte. The coordinator is a
`Run`, one model call or one write a step, so that it can be shown, stopped and taken up after a crash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness_kit.approval import Approver
from harness_kit.approvers import ask
from harness_kit.asking import Role
from harness_kit.budget import Budget
from harness_kit.codes import Decision, ReviewStatus, RunStatus, Stage, StopReason, Verdict
from harness_kit.coordination import Coordination, Test
from harness_kit.labels import label
from harness_kit.rolespec import Spec
from harness_kit.rolewords import RoleWord
from harness_kit.store import TraceStore
from harness_kit.trace import Clock, Event
from harness_kit.workspace import Workspace

__all__ = ["Coordinated", "Coordination", "Role", "Spec", "Test", "coordinate", "drive", "result_of"]


@dataclass(frozen=True, kw_only=True)
class Coordinated:
    """What one coordination came to. Ended, decided and written are separate answers."""

    run_id: str
    file: str
    status: RunStatus
    """`WAITING` while nobody has approved: the candidate passed and is not written."""
    reason: StopReason | None
    verdict: Verdict
    """`PASS` once confirmed; `HOLD` where a person has to look or answer; `FAIL` otherwise."""
    review: ReviewStatus
    committed: bool
    error: str | None
    """Why it was not confirmed, in words."""
    rounds: int
    """Rounds begun."""
    calls: Mapping[str, int]
    """Calls by role, failed ones included."""
    rework: Mapping[str, int]
    """Of these, calls after the first round, by role."""
    cost: int
    """Units."""
    first: str | None
    """The first draft."""
    candidate: str | None
    """The last candidate, confirmed or not."""
    saved: str | None
    """The text read back from the file; None where nothing was written."""
    history: tuple[Mapping[str, Any], ...]
    """One entry a judged round: candidate, reviews, feedback, dropped and unresolved issues, passed."""
    refused: tuple[Mapping[str, Any], ...]
    """Answers that were refused: role, round, why."""
    checks: Mapping[str, bool]
    """The independent tests by name; empty where it did not come to them."""
    events: tuple[Event, ...]

    @property
    def changes(self) -> tuple[str, ...]:
        """The lines of a unified diff from the first draft to the file; () where nothing was written."""
        import difflib  # dear, and only where something is shown

        if self.saved is None or self.first is None:
            return ()
        names = label(RoleWord.DRAFT), label(RoleWord.CONFIRMED)
        return tuple(
            difflib.unified_diff(self.first.splitlines(), self.saved.splitlines(), *names, lineterm="")
        )


def coordinate(
    spec: Spec,
    writer: Role,
    reviewers: Sequence[Role],
    *,
    rounds: int,
    tests: Mapping[str, Test],
    workspace: Workspace,
    budget: Budget,
    clock: Clock,
    approver: Approver | None,
    store: TraceStore | None = None,
    run_id: str = "coordination",
) -> Coordinated:
    """Write, review and rewrite until all reviewers pass one candidate; then test, ask, write, read back.

    At most `rounds` rounds; at the limit nothing is confirmed. Without an approver, or where it does not
    answer, the candidate waits unwritten. `InputError` before any call where the parts do not fit.
    """
    run = Coordination(
        run_id, spec=spec, writer=writer, reviewers=reviewers, rounds=rounds, tests=tests,
        workspace=workspace, clock=clock, budget=budget, store=store,
    )  # fmt: skip
    drive(run, approver)
    return result_of(run)


def drive(run: Coordination, approver: Approver | None) -> None:
    """Step `run` to its end, or to the question that nobody answers."""
    while not run.finished:
        if run.pending is not None:
            answer = ask(approver, run.pending) if approver is not None else None
            if answer is None or run.answer(answer.approval) is Decision.HOLD:
                return
        if run.status is not RunStatus.READY:
            return
        run.step()


def result_of(run: Coordination) -> Coordinated:
    """Return the values of a run as it stands."""
    state = run.state
    rework = dict.fromkeys(state["calls"], 0)
    for event in run.trace:
        called = event.stage in (Stage.WRITE, Stage.REVIEW) or event.data.get("called") is True
        if called and event.data["round"] > 1:
            rework[event.data["role"]] += 1
    held = run.reason in (None, StopReason.UNRESOLVED)
    return Coordinated(
        run_id=run.run_id, file=run.spec.file, status=run.status, reason=run.reason,
        verdict=Verdict.PASS if state["committed"] else Verdict.HOLD if held else Verdict.FAIL,
        review=ReviewStatus(state["review"]), committed=state["committed"], error=state["error"],
        rounds=state["round"], calls=dict(state["calls"]), rework=rework, cost=run.cost,
        first=state["first"], candidate=state["candidate"], saved=state["saved"],
        history=tuple(state["history"]), refused=tuple(state["refused"]), checks=dict(state["checks"]),
        events=tuple(run.events),
    )  # fmt: skip
