"""What a run is: a state of plain JSON, and what can be read from it. How it moves is in `runs`."""

from datetime import datetime
from typing import Any, ClassVar

from harness_kit.budget import Budget
from harness_kit.codes import RunStatus, StopReason
from harness_kit.errors import RunError
from harness_kit.proposals import Proposal
from harness_kit.trace import Event, Recorder


class RunState:
    """The part of a run that can be saved, shown as a table, and taken up again."""

    system: ClassVar[str] = ""
    """What runs, and in which version; a stored run is resumed by the same ones alone."""
    version: ClassVar[str] = "1"
    run_id: str
    budget: Budget
    state: dict[str, Any]
    """Everything that the run knows, as plain JSON."""
    events: list[Event]
    """What happened in completed steps."""
    _record: Recorder

    @property
    def status(self) -> RunStatus:
        """Where the run stands."""
        if self.state["ended"] is not None:
            return RunStatus.FINISHED
        if self.state["unknown"] is not None:
            return RunStatus.UNKNOWN
        if self.state["pending"] is not None and self.state["answer"] is None:
            return RunStatus.WAITING
        return RunStatus.READY

    @property
    def finished(self) -> bool:
        """True once nothing is left to do; whether the work was done is `reason`."""
        return self.status is RunStatus.FINISHED

    @property
    def pending(self) -> Proposal | None:
        """The question that waits for an answer, or None."""
        if self.status is not RunStatus.WAITING:
            return None
        return Proposal.from_record(self.state["pending"])

    def question(self) -> Proposal:
        """Return the question of this moment, answered or not; `RunError` where there is none."""
        if self.state["pending"] is None:
            raise RunError(f"run {self.run_id!r} asks nothing now; step it until it does")
        return Proposal.from_record(self.state["pending"])

    @property
    def trace(self) -> list[Event]:
        """The events so far, those of the step under way included."""
        return [*self.events, *self._record.events]

    @property
    def number(self) -> int:
        """Steps completed."""
        return int(self.state["number"])

    @property
    def reason(self) -> StopReason | None:
        """Why the work ended; None while it goes on."""
        found = self.state["reason"]
        return None if found is None else StopReason(found)

    @property
    def cost(self) -> int:
        """Units that this run has used, read from the ledger: failed calls count."""
        return self.budget.spent_by(self.run_id)

    def record(self) -> dict[str, Any]:
        """Return what the run says of itself: ended, done, judged, decided and written are separate."""
        return {
            "run_id": self.run_id, "system": self.system, "version": self.version, "status": str(self.status),
            "reason": self.state["reason"], "passed": self.state["passed"], "review": self.state["review"],
            "committed": self.state["committed"], "cost": self.cost, "limit": self.budget.limit,
            "started": self.state["started"], "ended": self.state["ended"], "duration_ms": self.duration_ms,
        }  # fmt: skip

    @property
    def duration_ms(self) -> int | None:
        """Milliseconds from start to end by the run's own clock; None while it goes on."""
        if self.state["ended"] is None:
            return None
        span = datetime.fromisoformat(self.state["ended"]) - datetime.fromisoformat(self.state["started"])
        # A clock that was set back tells no duration.
        return round(span.total_seconds() * 1000) if span.total_seconds() >= 0 else None
