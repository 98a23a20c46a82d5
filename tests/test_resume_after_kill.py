"""A run that waits for approval outlives its process; what was approved is written once."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness_kit.budget import Budget
from harness_kit.codes import Decision, RunStatus, StopReason
from harness_kit.errors import ApprovalError, RunError
from harness_kit.labels import Word, label
from harness_kit.scenarios import approval_gate as chapter
from harness_kit.store import TraceStore

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
TIME = "2026-10-08T09:00:00+09:00"

# Steps the chapter's run; kills itself when it is asked about the report, or at the n-th crash point.
CHILD = """
import os, signal, sys
from harness_kit.budget import Budget
from harness_kit.codes import Decision
from harness_kit.scenarios import approval_gate as chapter
from harness_kit.store import TraceStore

path, folder, answers, nth = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
clock = lambda: "2026-10-08T09:00:00+09:00"
store = TraceStore(path)
budget = Budget(6, store=store, name="r")
if store.runs():
    run = chapter.ApprovalGateRun.resume(store, "r", clock=clock, budget=budget, root=folder)
else:
    run = chapter.ApprovalGateRun("r", folder, clock=clock, budget=budget, store=store)

seen = 0
def point(name):
    global seen
    seen += 1
    if seen == nth:
        os.kill(os.getpid(), signal.SIGKILL)

for workspace in (run.inputs, run.reports, run.records):
    workspace._at = point
for name in ("checkpoint", "append", "update_run", "record_decision"):
    def guarded(*args, _real=getattr(store, name), **kwargs):
        point("before")
        given = _real(*args, **kwargs)
        point("after")
        return given
    setattr(store, name, guarded)

people = chapter.approvers(Decision.APPROVED, Decision.APPROVED, clock)
if answers == "inputs":
    people = {purpose: people[purpose] for purpose in list(people)[:1]}
chapter.drive(run, people)
if answers == "inputs":
    os.kill(os.getpid(), signal.SIGKILL)
print("points", seen)
"""


def child(folder: Path, answers: str, nth: int = 0) -> "subprocess.CompletedProcess[str]":
    work = folder / "work"
    work.mkdir(exist_ok=True)
    command = [sys.executable, "-c", CHILD, str(folder / "runs.db"), str(work), answers, str(nth)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pause_kill_resume_approve_writes_once(tmp_path: Path) -> None:
    assert child(tmp_path, "inputs").returncode == -signal.SIGKILL
    report = tmp_path / "work" / "report.md"
    assert not report.exists()
    with TraceStore(tmp_path / "runs.db") as store:
        budget = Budget(6, store=store, name="r")
        run = chapter.ApprovalGateRun.resume(
            store, "r", clock=lambda: TIME, budget=budget, root=tmp_path / "work"
        )
        assert run.status is RunStatus.WAITING and run.pending is not None
        person = chapter.approvers(Decision.APPROVED, Decision.APPROVED, lambda: TIME)
        approval = person[label(Word.PURPOSE_REPORT)](run.pending)
        run.answer(approval)
        with pytest.raises(RunError, match="taken once"):
            run.answer(approval)
        run.step()
        written = report.stat()
        assert report.read_text("utf-8") == chapter.scenarios()[0].expected.report
        again = chapter.ApprovalGateRun.resume(
            store, "r", clock=lambda: TIME, budget=budget, root=tmp_path / "work"
        )
        with pytest.raises((RunError, ApprovalError)):
            again.answer(approval)
        chapter.drive(again, person)
        assert again.finished and again.reason is StopReason.COMPLETED
        after = report.stat()
        assert (after.st_ino, after.st_mtime_ns) == (written.st_ino, written.st_mtime_ns), "written again"
        assert len(store.decisions(kind="use")) == 3
        assert budget.spent == 6 and store.count_events("r") == 18


@pytest.mark.slow
def test_a_kill_at_any_point_ends_in_the_same_report_units_and_one_write(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    probe.mkdir()
    done = child(probe, "all")
    points = int(done.stdout.split()[1])
    assert points > 80, done.stderr
    for nth in range(1, points + 1, 3):
        folder = tmp_path / str(nth)
        folder.mkdir()
        assert child(folder, "all", nth).returncode == -signal.SIGKILL
        last = child(folder, "all")
        assert last.returncode == 0, last.stderr
        assert (folder / "work" / "report.md").read_text("utf-8") == chapter.scenarios()[0].expected.report
        with TraceStore(folder / "runs.db") as store:
            row = store.run("r")
            assert (row.status, row.reason, row.committed, row.cost) == ("finished", "completed", True, 6)
            budget = Budget(6, store=store, name="r")
            assert (budget.spent, budget.reserved) == (6, 0)
            assert [event.seq for event in store.events("r")] == list(range(1, 19))
            uses = [link.body["proposal"]["number"] for link in store.decisions(kind="use")]
            assert uses == [1, 2, 3], "each approval is used once"
            assert store.verify_decisions().ok
        assert not list((folder / "work" / ".harness_kit").glob("txn*"))
