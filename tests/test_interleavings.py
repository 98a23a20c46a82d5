"""Chapter 04 under random interleavings of steps, crashes and resumes ends as if nothing had happened."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_kit.budget import Budget
from harness_kit.codes import Decision, RunStatus, StopReason
from harness_kit.errors import RunError
from harness_kit.scenarios import approval_gate as chapter
from harness_kit.store import TraceStore

TIME = "2026-10-08T09:00:00+09:00"
REPORT = chapter.scenarios()[0].expected.report


class Crash(BaseException):
    """The process is gone: nothing after it runs, and only what is on the disk stays."""


class Life:
    """One process: it ends at its n-th crash point, or when its steps are used up."""

    def __init__(self, folder: Path, crash_at: int) -> None:
        self.seen, self.crash_at = 0, crash_at
        self.store = TraceStore(folder / "runs.db")
        for name in ("checkpoint", "append", "update_run", "record_decision"):
            setattr(self.store, name, self.guarded(getattr(self.store, name)))
        budget = Budget(6, store=self.store, name="r")
        work = folder / "work"
        if self.store.runs():
            self.run = chapter.ApprovalGateRun.resume(
                self.store, "r", clock=lambda: TIME, budget=budget, root=work
            )
        else:
            work.mkdir(exist_ok=True)
            self.run = chapter.ApprovalGateRun("r", work, clock=lambda: TIME, budget=budget, store=self.store)
        for workspace in (self.run.inputs, self.run.reports, self.run.records):
            workspace._at = lambda name: self.point()

    def point(self) -> None:
        self.seen += 1
        if self.seen == self.crash_at:
            raise Crash

    def guarded(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.point()
            given = real(*args, **kwargs)
            self.point()
            return given

        return call

    def live(self, steps: int) -> None:
        """Take up to `steps` moves; an answer is a move too."""
        people = chapter.approvers(Decision.APPROVED, Decision.APPROVED, lambda: TIME)
        for _ in range(steps):
            if self.run.finished:
                return
            if self.run.pending is not None:
                self.run.answer(people[self.run.pending.purpose](self.run.pending))
            elif self.run.status is RunStatus.READY:
                self.run.step()


lives = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 6)), max_size=12)


def end_of(folder: Path, told: list[tuple[int, int]]) -> None:
    for crash_at, steps in [*told, (0, 100)]:
        try:
            life = Life(folder, crash_at)
        except Crash:
            continue
        try:
            life.live(steps)
        except Crash:
            pass
        finally:
            life.store.close()
    with TraceStore(folder / "runs.db") as store:
        row, budget = store.run("r"), Budget(6, store=store, name="r")
        assert (row.status, row.reason, row.committed) == ("finished", StopReason.COMPLETED, True)
        assert (budget.spent, budget.reserved, row.cost) == (6, 0, 6)
        assert [event.seq for event in store.events("r")] == list(range(1, 19))
        assert [link.body["proposal"]["number"] for link in store.decisions(kind="use")] == [1, 2, 3]
        assert len(store.decisions(kind="answer")) == 3 and store.verify_decisions().ok
        last = chapter.ApprovalGateRun.resume(
            store, "r", clock=lambda: TIME, budget=budget, root=folder / "work"
        )
        with pytest.raises(RunError):
            last.step()
    assert (folder / "work" / "report.md").read_text("utf-8") == REPORT
    marks = list((folder / "work" / ".harness_kit" / "commits").iterdir())
    assert len(marks) == 3, "inputs, report and records, each written once"


@given(lives)
@settings(max_examples=30)
def test_the_end_is_the_same(told: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        end_of(Path(folder), told)


@pytest.mark.slow
@given(lives)
@settings(max_examples=400)
def test_the_end_is_the_same_many_times(told: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        end_of(Path(folder), told)
