"""Killed at any moment, the coordinator's run is taken up and the document is written once."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness_kit.budget import Budget
from harness_kit.codes import RunStatus
from harness_kit.errors import InputError
from harness_kit.resources import data_path
from harness_kit.roles import Coordination, drive
from harness_kit.scenarios import writer_reviewer as chapter
from harness_kit.store import TraceStore
from harness_kit.trace import fixed_clock

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
CLOCK = fixed_clock("2026-10-08T09:00:00+09:00")
NAMES = ("form", "content")
FINAL = "".join(
    f"{line}\n"
    for line in (
        "제목: 문서 정리 안내",
        "목표: 입력 문서를 정리한다.",
        "작업: 제목 정리, 본문 정리",
        "검증: 제목과 본문이 비어 있지 않은지 검사",
        "완료: 검증 통과 후 파일 저장",
    )
)

# Begins or resumes the run; kills itself at the n-th point, or where the candidate waits (n = -1).
CHILD = """
import os, signal, sys
from harness_kit.budget import Budget
from harness_kit.roles import Coordination, drive
from harness_kit.scenarios import writer_reviewer as chapter
from harness_kit.store import TraceStore

path, folder, nth = sys.argv[1], sys.argv[2], int(sys.argv[3])
clock = lambda: "2026-10-08T09:00:00+09:00"
store = TraceStore(path)
budget = Budget(20, store=store, name="r")
names = ("form", "content")
if store.runs():
    parts = chapter.parts(folder, reviewing=names)
    run = Coordination.resume(store, "r", clock=clock, budget=budget, **parts)
else:
    run = chapter.coordination(folder, reviewing=names, clock=clock, budget=budget, store=store, run_id="r")

seen = 0
def point(name):
    global seen
    seen += 1
    if seen == nth:
        os.kill(os.getpid(), signal.SIGKILL)

run.workspace._at = point
for name in ("checkpoint", "append", "update_run", "record_decision"):
    def guarded(*args, _real=getattr(store, name), **kwargs):
        point("before")
        given = _real(*args, **kwargs)
        point("after")
        return given
    setattr(store, name, guarded)

drive(run, None if nth == -1 else chapter.approver())
if nth == -1:
    os.kill(os.getpid(), signal.SIGKILL)
print("points", seen)
"""


def child(folder: Path, nth: int = 0) -> "subprocess.CompletedProcess[str]":
    work = folder / "work"
    work.mkdir(exist_ok=True)
    command = [sys.executable, "-c", CHILD, str(folder / "runs.db"), str(work), str(nth)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_killed_between_the_passing_review_and_the_write_it_is_written_once(tmp_path: Path) -> None:
    assert child(tmp_path, -1).returncode == -signal.SIGKILL
    target = tmp_path / "work" / "final.txt"
    assert not target.exists()
    with TraceStore(tmp_path / "runs.db") as store:
        budget = Budget(20, store=store, name="r")

        def taken_up() -> Coordination:
            parts = chapter.parts(tmp_path / "work", reviewing=NAMES)
            return Coordination.resume(store, "r", clock=CLOCK, budget=budget, **parts)

        run = taken_up()
        assert run.status is RunStatus.WAITING and budget.spent == 6
        drive(run, chapter.approver())
        assert target.read_text("utf-8") == FINAL and run.state["committed"]
        written = target.stat()
        again = taken_up()
        drive(again, chapter.approver())
        after = target.stat()
        assert (after.st_ino, after.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
        assert again.finished and budget.spent == 6 and len(store.decisions(kind="use")) == 1


def test_a_run_is_resumed_with_its_own_reviewers_and_tests(tmp_path: Path) -> None:
    assert child(tmp_path, -1).returncode == -signal.SIGKILL
    with TraceStore(tmp_path / "runs.db") as store:
        budget = Budget(20, store=store, name="r")
        fitting = chapter.parts(tmp_path / "work", reviewing=NAMES)
        for other in (
            chapter.parts(tmp_path / "work"),
            {**fitting, "tests": {"easy": lambda first, final: True}},
        ):
            with pytest.raises(InputError):
                Coordination.resume(store, "r", clock=CLOCK, budget=budget, **other)


@pytest.mark.slow
def test_a_kill_at_any_point_ends_in_one_write_and_six_calls(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    probe.mkdir()
    done = child(probe)
    points = int(done.stdout.split()[1])
    assert points > 40, done.stderr
    for nth in range(1, points + 1, 2):
        folder = tmp_path / str(nth)
        folder.mkdir()
        assert child(folder, nth).returncode == -signal.SIGKILL
        last = child(folder)
        assert last.returncode == 0, last.stderr
        assert (folder / "work" / "final.txt").read_text("utf-8") == FINAL
        with TraceStore(folder / "runs.db") as store:
            row = store.run("r")
            assert (row.status, row.reason, row.committed, row.cost) == ("finished", "completed", True, 6)
            assert len(store.decisions(kind="use")) == 1 and Budget(20, store=store, name="r").reserved == 0
            events = store.events("r")
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            state = store.last_checkpoint("r")
            assert state is not None
            assert state.state["calls"] == {"writer": 2, "form": 2, "content": 2}


def test_the_text_of_the_golden_output_is_the_one_written() -> None:
    assert FINAL in data_path("golden", "writer_reviewer.txt").read_text("utf-8")
