"""The store: what a returned call wrote is there, for every thread and process, and nothing else is."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_kit.codes import Durability, ReviewStatus, StepPhase
from harness_kit.errors import (
    CanonicalError,
    DuplicateRunError,
    InputError,
    SequenceError,
    StoreCorruptError,
    StoreError,
    StoreVersionError,
)
from harness_kit.store import TraceStore
from harness_kit.trace import Event

NINE = "2026-10-08T09:00:00+09:00"
TEN = "2026-10-08T10:00:00+09:00"
ROOT = Path(__file__).resolve().parent.parent

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def event(run_id: str, seq: int, **data: Any) -> Event:
    return Event(run_id=run_id, seq=seq, time=NINE, stage="tool", data=data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def store(path: Path) -> Iterator[TraceStore]:
    """A store with the open runs `a` and `b`."""
    with TraceStore(path) as opened:
        opened.open_run("a", started=NINE)
        opened.open_run("b", started=NINE)
        yield opened


def python(code: str, *arguments: object) -> "subprocess.Popen[str]":
    """Start another process that runs `code`."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


# Runs.


def test_a_run_says_apart_why_it_ended_and_how_it_was_judged_decided_and_written(store: TraceStore) -> None:
    store.open_run("c", system="demo", version="2", started=NINE, data={"title": "보고서"})
    store.update_run(
        "c", status="finished", reason="completed", passed=False, review=ReviewStatus.PENDING, committed=True,
        cost=6, limit=10, ended=TEN, duration_ms=3_600_000,
    )  # fmt: skip
    run = store.run("c")
    assert (run.run_id, run.system, run.version, run.started, run.ended) == ("c", "demo", "2", NINE, TEN)
    assert (run.status, run.reason, run.passed, run.review, run.committed) == (
        "finished", "completed", False, "pending", True,
    )  # fmt: skip
    assert (run.cost, run.limit, run.duration_ms, run.data) == (6, 10, 3_600_000, {"title": "보고서"})
    store.update_run("c", passed=None, data={})
    assert (store.run("c").passed, store.run("c").data, store.run("c").cost) == (None, {}, 6)
    assert [run.run_id for run in store.runs()] == ["a", "b", "c"]


def test_a_run_id_is_taken_once(store: TraceStore) -> None:
    with pytest.raises(DuplicateRunError, match="run 'a' is in the store already"):
        store.open_run("a", started=TEN)
    assert store.run("a").started == NINE


@pytest.mark.parametrize("run_id", ["", "  ", "a\nb", "a\0", "\ud800", None, 3])
def test_an_odd_run_id_is_refused(store: TraceStore, run_id: Any) -> None:
    with pytest.raises(InputError, match="blank or not printable"):
        store.open_run(run_id, started=NINE)
    assert len(store.runs()) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"started": "noon"},
        {"started": "2026-10-08T09:00:00"},
        {"system": None},
        {"data": [1]},
        {"data": {"x": float("inf")}},
    ],
)
def test_a_run_begun_with_bad_fields_is_not_begun(store: TraceStore, fields: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        store.open_run("c", **{"started": NINE, **fields})
    assert len(store.runs()) == 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"passed": 1}, "passed is 1; expected bool"),
        ({"committed": "yes"}, "committed is 'yes'"),
        ({"cost": -1}, "cost is -1"),
        ({"cost": True}, "cost is True"),
        ({"cost": 2**63}, "whole number"),
        ({"limit": 1.0}, "limit is 1.0"),
        ({"status": 3}, "status is 3; expected str"),
        ({"data": None}, "expected a mapping"),
        ({"colour": "red"}, "no field 'colour'; there are .*status"),
    ],
)
def test_a_bad_field_changes_nothing(store: TraceStore, fields: dict[str, Any], said: str) -> None:
    before = store.run("a")
    with pytest.raises(InputError, match=said):
        store.update_run("a", reason="completed", **fields)
    assert store.run("a") == before


def test_an_unknown_run_is_named_with_ids_like_it(store: TraceStore) -> None:
    store.open_run("approval-1", started=NINE)
    for ask in (
        lambda: store.run("aproval-1"),
        lambda: store.update_run("aproval-1", cost=1),
        lambda: store.update_run("aproval-1"),
        lambda: store.events("aproval-1"),
        lambda: store.iter_events("aproval-1"),
        lambda: store.count_events("aproval-1"),
        lambda: store.append([event("aproval-1", 1)]),
        lambda: store.checkpoint("aproval-1", 0, {}),
        lambda: store.last_checkpoint("aproval-1"),
        lambda: store.put_result("aproval-1", "x", 1),
        lambda: store.results("aproval-1"),
    ):
        with pytest.raises(InputError, match="no run 'aproval-1'.*approval-1"):
            ask()


# Events.


def test_events_come_back_as_they_were_in_run_order(store: TraceStore) -> None:
    mine = [event("a", 1, 말="가\u2028나", deep=[{"x": 1.5}, None, True]), event("a", 2)]
    others = [event("b", seq, n=seq) for seq in (1, 2, 3)]
    assert store.append([others[0], mine[0], *others[1:]]) == 4
    assert store.append(iter(mine[1:])) == 1
    assert store.events("a") == mine and store.events("b") == others
    for batch in (1, 2, 3, 100):
        assert list(store.iter_events(batch=batch)) == [*mine, *others]
        assert list(store.iter_events("b", batch=batch)) == others
    assert (store.count_events(), store.count_events("a"), store.append([])) == (5, 2, 0)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([event("a", 1), event("a", 3)], "event 3 is a gap after 1; expected 2"),
        ([event("a", 1), event("a", 1)], "event 1 is a repeat after 1; expected 2"),
        ([event("a", 2)], "event 2 is a gap after 0; expected 1"),
        ([event("a", 1), event("b", 1), event("a", 1)], "event 1 is a repeat after 1"),
        ([event("a", 1), event("b", 1), event("b", 3)], "run 'b': event 3 is a gap"),
    ],
)
def test_a_gap_or_a_repeat_stores_nothing(store: TraceStore, events: list[Event], said: str) -> None:
    with pytest.raises(SequenceError, match=said):
        store.append(events)
    assert store.count_events() == 0
    store.append([event("a", 1)])
    with pytest.raises(SequenceError, match="repeat"):
        store.append([event("a", 1)])
    assert store.count_events() == 1


def test_what_is_no_event_or_raises_on_the_way_stores_nothing(store: TraceStore) -> None:
    def failing() -> Iterator[Event]:
        yield event("a", 1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.append(failing())
    with pytest.raises(InputError, match="expected Event"):
        store.append([event("a", 1), {"seq": 2}])  # type: ignore[list-item]
    assert store.count_events() == 0


def test_the_text_of_a_payload_is_stored_once(path: Path) -> None:
    texts = [f"{number} " + "자료" * 100 for number in range(500)]
    with TraceStore(path) as store:
        store.open_run("a", started=NINE)
        store.append(event("a", seq, text=text) for seq, text in enumerate(texts, start=1))
    assert path.stat().st_size < 1.5 * sum(len(text.encode()) for text in texts)


# Checkpoints and results.


def test_only_the_newest_checkpoint_is_kept_and_its_number_never_goes_back(store: TraceStore) -> None:
    assert store.last_checkpoint("a") is None
    store.checkpoint("a", 0, {"x": [1]})
    store.checkpoint("a", 1, {"x": [2]}, phase="started")
    store.checkpoint("a", 1, {"x": [3]}, phase=StepPhase.COMPLETED)
    for number, phase in ((0, "completed"), (0, "started"), (1, "started")):
        with pytest.raises(SequenceError, match="is of the past"):
            store.checkpoint("a", number, {}, phase=phase)
    held = store.last_checkpoint("a")
    assert held is not None
    assert (held.number, held.phase, held.state) == (1, StepPhase.COMPLETED, {"x": [3]})
    assert store.last_checkpoint("b") is None


@pytest.mark.parametrize(
    ("number", "state", "phase"),
    [(-1, {}, "started"), (True, {}, "started"), ("1", {}, "started"), (1, [], "started"), (1, {}, "paused"),
     (1, {"x": {1}}, "started")],
)  # fmt: skip
def test_a_bad_checkpoint_is_refused(store: TraceStore, number: Any, state: Any, phase: str) -> None:
    with pytest.raises(InputError):
        store.checkpoint("a", number, state, phase=phase)
    assert store.last_checkpoint("a") is None


def test_replaced_text_is_gone_from_the_files(path: Path) -> None:
    secret = "이 문장은 결정 뒤에 사라져야 한다. " * 400
    with TraceStore(path) as store:
        store.open_run("a", started=NINE)
        store.checkpoint("a", 0, {"pending": secret})
        store.checkpoint("a", 1, {"pending": None})
    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert "사라져야".encode() not in kept


def test_a_result_is_written_once(store: TraceStore) -> None:
    store.put_result("a", "total", {"b": 1, "a": [2]})
    store.put_result("a", "total", {"a": [2], "b": 1})
    for other in ({"a": [2], "b": True}, None):
        with pytest.raises(StoreError, match="another result 'total'"):
            store.put_result("a", "total", other)
    with pytest.raises(InputError, match="result name"):
        store.put_result("a", "", 1)
    with pytest.raises(CanonicalError):
        store.put_result("a", "bad", float("nan"))
    assert store.results("a") == {"total": {"b": 1, "a": [2]}} and store.results("b") == {}


# Transactions.


def test_a_transaction_keeps_all_or_nothing(store: TraceStore) -> None:
    def fail_late() -> None:
        with store.transaction():
            store.open_run("c", started=NINE)
            store.append([event("a", 1)])
            raise KeyError

    with pytest.raises(KeyError):
        fail_late()
    assert len(store.runs()) == 2 and store.count_events() == 0
    with store.transaction():
        store.append([event("a", 1)])
        # Caught inside, the failed part alone is undone: the batch's first event is not kept.
        with pytest.raises(SequenceError):
            store.append([event("b", 1), event("b", 1)])
        store.append([event("a", 2)])
    assert (store.count_events("a"), store.count_events("b")) == (2, 0)


def test_a_snapshot_reads_one_moment_and_refuses_writes(path: Path, store: TraceStore) -> None:
    with TraceStore(path) as other:
        with store.snapshot():
            other.append([event("a", 1)])
            assert (store.count_events(), other.count_events()) == (0, 1)
            with pytest.raises(StoreError, match="a snapshot is for reading"):
                store.append([event("a", 2)])
        assert store.count_events() == 1


def test_errors_of_sqlite_become_ours(store: TraceStore) -> None:
    for statement in ("SELECT * FROM nowhere", "INSERT INTO events (run) VALUES (1)"):
        with pytest.raises(StoreError), store.transaction() as db:
            db.execute(statement)


def test_a_full_disk_is_said_plainly_and_loses_nothing(store: TraceStore) -> None:
    store.append([event("a", 1)])
    with store.read() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match="full; make room on the disk"):
        store.append(event("a", seq, text="x" * 3000) for seq in range(2, 50))
    assert store.events("a") == [event("a", 1)]
    store.append([event("a", 2)])


def test_a_closed_store_says_so(path: Path) -> None:
    store = TraceStore(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.runs()


@pytest.mark.parametrize("durability", ["process", "power", Durability.POWER])
def test_durability_is_a_choice_by_name(path: Path, durability: str) -> None:
    with TraceStore(path, durability=durability) as store, store.read() as db:
        (level,) = db.execute("PRAGMA synchronous").fetchone()
        assert level == (1 if durability == "process" else 2)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with pytest.raises(InputError, match="'process' or 'power'"):
        TraceStore(path, durability="none")


# Files that are no store, or no more.


def whole_store(path: Path) -> bytes:
    with TraceStore(path) as store:
        for name in ("a", "b"):
            store.open_run(name, started=NINE)
            store.append([event(name, seq, text="x" * 900) for seq in range(1, 21)])
    return path.read_bytes()


def read_all(path: Path) -> None:
    with TraceStore(path) as store:
        list(store.iter_events())
        store.runs()


def test_a_truncated_store_is_refused_at_whatever_length(path: Path) -> None:
    whole = whole_store(path)
    for size in [*range(1, 200, 7), *range(200, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(StoreCorruptError, match="restore a copy|no SQLite database"):
            read_all(path)
        assert path.read_bytes() == whole[:size], "the damaged file was changed"


def test_overwritten_pages_are_an_error_of_ours(path: Path) -> None:
    whole = whole_store(path)
    damaged = bytearray(whole)
    damaged[4096 : len(whole)] = b"\xa5" * (len(whole) - 4096)
    path.write_bytes(damaged)
    with pytest.raises(StoreCorruptError, match="restore a copy"):
        read_all(path)


def test_a_payload_that_somebody_broke_is_an_error_of_ours(path: Path, store: TraceStore) -> None:
    store.append([event("a", 1)])
    with store.transaction() as db:
        db.execute("UPDATE events SET data = '{\"x\":'")
    with pytest.raises(StoreCorruptError, match="restore a copy"):
        store.events("a")


def test_an_empty_file_is_a_new_store_unless_a_log_stands_beside_it(path: Path) -> None:
    path.touch()
    read_all(path)
    path.write_bytes(b"")
    path.with_name("runs.db-wal").write_bytes(b"x" * 100)
    with pytest.raises(StoreCorruptError, match="a log stands beside it"):
        TraceStore(path)
    assert path.with_name("runs.db-wal").read_bytes() == b"x" * 100


@pytest.mark.parametrize("content", [b"hello", b"run_id,passed\n" * 50, b"\0" * 4096, b"SQLite format 3\0"])
def test_a_file_that_is_no_database_is_refused_and_untouched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreCorruptError):
        TraceStore(path)
    assert path.read_bytes() == content and list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "statements", [["CREATE TABLE runs (x)"], ["PRAGMA application_id = 7"], ["PRAGMA user_version = 1"]]
)
def test_a_database_of_another_program_is_refused_and_untouched(path: Path, statements: list[str]) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        other.execute(statement)
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="of another program"):
        TraceStore(path)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_a_store_of_a_newer_kit_is_refused_and_untouched(path: Path) -> None:
    whole_store(path)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("PRAGMA user_version = 2")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match=r"schema 2, this kit reads up to 1; upgrade"):
        TraceStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", ["", " ", "a\0b", b"runs.db", 3, None])
def test_a_path_that_is_none_is_refused(path: Any) -> None:
    with pytest.raises(InputError, match="no file name"):
        TraceStore(path)


def test_a_missing_or_wrong_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder .*missing"):
        TraceStore(tmp_path / "missing" / "runs.db")
    with pytest.raises(InputError, match="is no file"):
        TraceStore(tmp_path)
    assert list(tmp_path.iterdir()) == []


# Threads, processes, kills.


def test_threads_write_into_one_store_without_losing_anything(store: TraceStore) -> None:
    failures: list[BaseException] = []

    def write(name: str) -> None:
        try:
            store.open_run(name, started=NINE)
            for seq in range(1, 31):
                store.append([event(name, seq)])
                assert store.count_events(name) == seq
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(f"thread-{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and store.count_events() == 240


def test_a_new_file_opened_by_many_at_once_is_one_whole_store_for_all(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def open_it(path: Path, gate: threading.Barrier) -> None:
        try:
            gate.wait(30)
            with TraceStore(path) as store:
                store.runs()
        except BaseException as error:
            failures.append(error)

    for round_number in range(40):
        gate = threading.Barrier(8)
        arguments = (tmp_path / f"{round_number}.db", gate)
        threads = [threading.Thread(target=open_it, args=arguments) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


WRITER = """
import sys
from harness_kit.store import TraceStore
from harness_kit.trace import Event
path, name, runs, start = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
import os, time
while not os.path.exists(start):
    time.sleep(0.001)
with TraceStore(path) as store:
    for run in range(runs):
        run_id = f"{name}-{run}"
        store.open_run(run_id, started="2026-10-08T09:00:00+09:00")
        store.append(
            Event(run_id=run_id, seq=seq, time="2026-10-08T09:00:00+09:00", stage="s", data={"seq": seq})
            for seq in range(1, 6)
        )
        store.record_decision("answer", run_id, {"run": run}, time="2026-10-08T09:00:00+09:00")
"""


def test_processes_create_one_store_together_and_lose_nothing(path: Path, tmp_path: Path) -> None:
    start = tmp_path / "start"
    writers = [python(WRITER, path, f"writer{number}", 4, start) for number in range(30)]
    time.sleep(0.5)  # most have started, so that they meet at the creation of the file
    start.touch()
    for writer in writers:
        finished(writer)
    with TraceStore(path) as store:
        assert sorted(run.run_id for run in store.runs()) == sorted(
            f"writer{number}-{run}" for number in range(30) for run in range(4)
        )
        for run in store.runs():
            assert [event.data["seq"] for event in store.events(run.run_id)] == [1, 2, 3, 4, 5]
        assert len(store.decisions()) == 120 and store.verify_decisions().ok


KILLED = """
import sys
from harness_kit.store import TraceStore
from harness_kit.trace import Event
store = TraceStore(sys.argv[1])
run_id = sys.argv[2]
store.open_run(run_id, started="2026-10-08T09:00:00+09:00")
for seq in range(1, 100_000):
    store.append(
        Event(run_id=run_id, seq=n, time="2026-10-08T09:00:00+09:00", stage="s", data={"x": "y" * 2000})
        for n in (2 * seq - 1, 2 * seq)
    )
    store.checkpoint(run_id, seq, {"seq": seq})
    print(seq, flush=True)
"""


def kill_a_writer(path: Path, run_id: str, after: int) -> None:
    """Kill a writing process once it has reported `after` batches; all that it reported must be there."""
    writer = python(KILLED, path, run_id)
    assert writer.stdout is not None and writer.stderr is not None
    reported = 0
    for line in writer.stdout:
        # A line that the kill cut off reports nothing.
        reported = int(line) if line.endswith("\n") else reported
        if reported == after:
            writer.kill()
    assert writer.wait() == -signal.SIGKILL, writer.stderr.read()
    writer.stdout.close()
    writer.stderr.close()
    with TraceStore(path) as store:
        events = store.events(run_id)
        held = store.last_checkpoint(run_id)
        # At most the batch that was being written when it was killed is there besides, and then whole.
        assert len(events) in (2 * reported, 2 * reported + 2)
        assert held is not None and held.number in (reported, reported + 1)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert len(events) // 2 in (held.number, held.number + 1)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_a_killed_writer_reported_is_there(path: Path) -> None:
    for round_number, after in enumerate((1, 17)):
        kill_a_writer(path, f"run-{round_number}", after)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_many_killed_writers_reported_is_there(path: Path) -> None:
    for round_number in range(40):
        kill_a_writer(path, f"run-{round_number}", 1 + 7 * round_number % 120)
    with TraceStore(path) as store:
        assert len(store.runs()) == 40


def in_a_child(act: Any) -> int:
    """Fork, call `act` in the child, and return the child's exit code; 99 where it hangs."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    for _ in range(2000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 99


@needs_fork
def test_a_forked_child_opens_its_own_connection_even_while_a_thread_holds_the_parents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = TraceStore("runs.db")
    store.open_run("a", started=NINE)
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with store.read():
            held.set()
            go_on.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)

    def write() -> None:
        os.chdir(tmp_path.parent)  # the path was relative, and still means the same file
        store.append([event("a", 1, who="child")])

    code = in_a_child(write)
    go_on.set()
    thread.join()
    assert code == 0
    store.append([event("a", 2, who="parent")])
    assert [event.data["who"] for event in store.events("a")] == ["child", "parent"]
    store.close()


@needs_fork
def test_a_child_forked_inside_a_transaction_cannot_end_it(store: TraceStore) -> None:
    child = -1

    def fork_and_fail() -> None:
        nonlocal child
        with store.transaction():
            store.append([event("a", 1)])
            child = os.fork()
            if child:
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
                raise KeyError

    try:
        with pytest.raises(KeyError):
            fork_and_fail()
    finally:
        if not child:
            os._exit(0)
    with TraceStore(store.path) as other:
        assert other.count_events() == 0
    assert store.append([event("a", 1)]) == 1


@needs_fork
def test_a_store_in_memory_and_a_closed_one_are_refused_in_a_child(path: Path) -> None:
    with TraceStore(":memory:") as memory:
        closed = TraceStore(path)
        closed.close()

        def use() -> None:
            with pytest.raises(StoreError, match="give it a file"):
                memory.runs()
            with pytest.raises(StoreError, match="is closed"):
                closed.runs()

        assert in_a_child(use) == 0
        assert memory.runs() == []


def test_a_store_that_is_dropped_unclosed_says_nothing(path: Path) -> None:
    code = "import sys, gc\nfrom harness_kit.store import TraceStore\nTraceStore(sys.argv[1])\ngc.collect()"
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stderr == ""


def test_a_writer_that_waits_in_vain_is_told_what_to_do(
    path: Path, store: TraceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_kit.database.WAIT_SECONDS", 0.05)
    told = pytest.raises(StoreError, match="another process has held it for 0.05 s; find out which")
    with TraceStore(path) as other, store.transaction(), told:
        other.append([event("a", 1)])
    assert store.count_events() == 0
