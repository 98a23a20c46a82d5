"""One ledger, many processes: what is granted adds up to the limit, whoever dies on the way."""

import multiprocessing as mp
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness_kit.budget import Budget
from harness_kit.codes import SpendState
from harness_kit.errors import BudgetError, BudgetExceededError
from harness_kit.store import TraceStore

spawn = mp.get_context("spawn")


def take_all(path: str, limit: int, go: "mp.synchronize.Barrier", out: "mp.Queue[int]") -> None:
    """Reserve and settle one unit at a time until refused; report how many were granted."""
    with TraceStore(path) as store:
        budget = Budget(limit, store=store, name="shared")
        go.wait(60)
        granted = 0
        while True:
            try:
                budget.reserve(1, role="worker").settle()
            except BudgetExceededError:
                out.put(granted)
                return
            granted += 1


def race(path: Path, processes: int, limit: int) -> list[int]:
    go, out = spawn.Barrier(processes), spawn.Queue()
    args = (str(path), limit, go, out)
    # Daemons, so that a worker that hangs ends with the test instead of holding it.
    workers = [spawn.Process(target=take_all, args=args, daemon=True) for _ in range(processes)]
    for worker in workers:
        worker.start()
    granted = [out.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    return granted


def test_processes_share_a_ledger_to_the_last_unit(tmp_path: Path) -> None:
    assert sum(race(tmp_path / "runs.db", 4, 60)) == 60
    with TraceStore(tmp_path / "runs.db") as store:
        totals = Budget(60, store=store, name="shared").totals()
    assert (totals.spent, totals.reserved, totals.left) == (60, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(20))
def test_32_processes_are_granted_exactly_1000_units(tmp_path: Path, turn: int) -> None:
    granted = race(tmp_path / "runs.db", 32, 1000)
    assert sum(granted) == 1000
    with TraceStore(tmp_path / "runs.db") as store:
        budget = Budget(1000, store=store, name="shared")
        assert (budget.spent, budget.reserved) == (1000, 0)
        states = [row.state for row in budget.rows()]
    assert states.count(SpendState.SETTLED) == 1000
    assert states.count(SpendState.REFUSED) == 32


DIES = """
import os, signal, sys
from harness_kit.budget import Budget
from harness_kit.store import TraceStore
budget = Budget(10, store=TraceStore(sys.argv[1]), name="shared")
spend = budget.reserve(3, role="caller", key="call-1")
if sys.argv[2] == "started":
    spend.start()
print("held", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize("moment", ["reserved", "started"])
def test_a_crash_between_reserve_and_settle_is_unknown_until_said(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "runs.db"
    command = [sys.executable, "-c", DIES, str(path), moment]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "held\n"), done.stderr
    with TraceStore(path) as store:
        budget = Budget(10, store=store, name="shared")
        alive = budget.reserve(2)
        (row,) = budget.unknown()
        assert (row.key, row.units, row.state.value) == ("call-1", 3, moment)
        assert budget.left == 5, "units that may have been spent are not given out again"
        with pytest.raises(BudgetError, match="reason"):
            budget.release(row.id, reason="")
        with pytest.raises(BudgetError, match="not among the unknown"):
            budget.release(alive.id, reason="it is mine")
        budget.release(row.id, reason="the provider's log shows no call")
        assert (budget.left, budget.unknown()) == (8, [])
        notes = [row.note for row in budget.rows() if row.state is SpendState.RELEASED]
        assert notes == ["the provider's log shows no call"]


def test_a_forked_child_uses_the_store_with_a_connection_of_its_own(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    with TraceStore(tmp_path / "runs.db") as store:
        budget = Budget(2, store=store, name="shared")
        child = os.fork()
        if child == 0:
            try:
                budget.reserve(1).settle()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        budget.reserve(1).settle()
        assert budget.spent == 2 and budget.left == 0
