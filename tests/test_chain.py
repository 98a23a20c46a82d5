"""The decision chain: every tampering with its rows is found, and said to be what it is."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_kit.canonical import fingerprint
from harness_kit.chain import START
from harness_kit.codes import ChainFault
from harness_kit.errors import ApprovalError, CanonicalError, InputError
from harness_kit.store import TraceStore

NINE = "2026-10-08T09:00:00+09:00"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TraceStore]:
    """A store with five decisions: a to e."""
    with TraceStore(tmp_path / "runs.db") as opened:
        for name in "abcde":
            opened.record_decision("answer", f"run-{name}", {"said": name}, time=NINE, unique=f"use:{name}")
        yield opened


def tamper(store: TraceStore, *statements: str) -> None:
    """Change the file as another program would."""
    other = sqlite3.connect(store.path, isolation_level=None)
    for statement in statements:
        other.execute(statement)
    other.close()


def test_each_link_carries_the_hash_of_the_one_before_and_its_own(store: TraceStore) -> None:
    links = store.decisions()
    assert [link.seq for link in links] == [1, 2, 3, 4, 5]
    assert [link.previous for link in links] == [START, *(link.hash for link in links[:-1])]
    assert links[1].hash == fingerprint(
        {
            "seq": 2, "kind": "answer", "run_id": "run-b", "time": NINE, "body": {"said": "b"},
            "unique": "use:b", "previous": links[0].hash,
        }
    )  # fmt: skip
    report = store.verify_decisions()
    assert (report.ok, report.length, report.fault, report.seq, report.message) == (True, 5, None, None, "")


def test_an_empty_chain_is_whole() -> None:
    with TraceStore(":memory:") as store:
        assert store.verify_decisions().ok and store.decisions() == []


def test_links_are_found_by_run_and_by_kind(store: TraceStore) -> None:
    store.record_decision("use", "run-b", {}, time=NINE)
    assert [link.seq for link in store.decisions(run_id="run-b")] == [2, 6]
    assert [link.seq for link in store.decisions(kind="use")] == [6]
    assert [link.seq for link in store.decisions(run_id="run-b", kind="answer")] == [2]
    assert store.decisions(run_id="nobody") == []


def test_a_unique_name_stands_once_and_a_refusal_leaves_no_row(store: TraceStore) -> None:
    with pytest.raises(ApprovalError, match=r"'use:b' was decided already \(row 2, answer\)"):
        store.record_decision("use", "run-x", {}, time=NINE, unique="use:b")
    assert len(store.decisions()) == 5 and store.verify_decisions().ok


@pytest.mark.parametrize(
    ("kind", "run_id", "body", "time", "said"),
    [
        (" ", "r", {}, NINE, "decision kind"),
        ("answer", "", {}, NINE, "run id"),
        ("answer", "r", [], NINE, "expected a mapping"),
        ("answer", "r", {"x": {1}}, NINE, "x is a set"),
        ("answer", "r", {}, "noon", "not ISO 8601"),
    ],
)
def test_bad_input_is_named_and_leaves_no_row(
    store: TraceStore, kind: str, run_id: str, body: dict[str, object], time: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        store.record_decision(kind, run_id, body, time=time)
    with pytest.raises(InputError, match="unique name"):
        store.record_decision("answer", "r", {}, time=NINE, unique="")
    assert len(store.decisions()) == 5


def test_the_body_is_a_snapshot(store: TraceStore) -> None:
    body = {"said": ["f"]}
    link = store.record_decision("answer", "run-f", body, time=NINE)
    body["said"].append("g")
    assert link.body == {"said": ["f"]} == store.decisions()[-1].body
    with pytest.raises(CanonicalError):
        store.record_decision("answer", "run-f", {"said": object()}, time=NINE)


SWAP = (
    "UPDATE decisions SET seq = 99 WHERE seq = {a}",
    "UPDATE decisions SET seq = {a} WHERE seq = {b}",
    "UPDATE decisions SET seq = {b} WHERE seq = 99",
)
CLOSE_UP = "UPDATE decisions SET seq = seq - 1 WHERE seq > {n}"


@pytest.mark.parametrize(
    ("statements", "fault", "seq"),
    [
        (['UPDATE decisions SET body = \'{"said":"no"}\' WHERE seq = 2'], ChainFault.EDITED, 2),
        (['UPDATE decisions SET body = \'{"said": "b"}\' WHERE seq = 2'], ChainFault.EDITED, 2),
        (["UPDATE decisions SET body = 'gone' WHERE seq = 2"], ChainFault.EDITED, 2),
        (["UPDATE decisions SET body = x'ff' WHERE seq = 2"], ChainFault.EDITED, 2),
        (["UPDATE decisions SET time = '2026-10-09T09:00:00+09:00' WHERE seq = 1"], ChainFault.EDITED, 1),
        (["UPDATE decisions SET kind = 'use' WHERE seq = 5"], ChainFault.EDITED, 5),
        (["UPDATE decisions SET run_id = 'run-x' WHERE seq = 3"], ChainFault.EDITED, 3),
        (["UPDATE decisions SET once = NULL WHERE seq = 3"], ChainFault.EDITED, 3),
        (["UPDATE decisions SET hash = 'abc' WHERE seq = 3"], ChainFault.EDITED, 3),
        (["UPDATE decisions SET hash = 'abc' WHERE seq = 5"], ChainFault.EDITED, 5),
        (["UPDATE decisions SET previous = 'abc' WHERE seq = 3"], ChainFault.EDITED, 3),
        (["DELETE FROM decisions WHERE seq = 1"], ChainFault.DELETED, 1),
        (["DELETE FROM decisions WHERE seq = 3"], ChainFault.DELETED, 3),
        (["DELETE FROM decisions WHERE seq = 5"], ChainFault.DELETED, 5),
        (["DELETE FROM decisions"], ChainFault.DELETED, 1),
        (["DELETE FROM decisions WHERE seq = 3", CLOSE_UP.format(n=3)], ChainFault.DELETED, 3),
        (["DELETE FROM decisions WHERE seq = 1", CLOSE_UP.format(n=1)], ChainFault.DELETED, 1),
        ([part.format(a=2, b=3) for part in SWAP], ChainFault.REORDERED, 2),
        ([part.format(a=1, b=5) for part in SWAP], ChainFault.REORDERED, 1),
        (["DELETE FROM chain_head"], ChainFault.EDITED, 1),
        (["UPDATE chain_head SET hash = 'abc'"], ChainFault.EDITED, 5),
    ],
)
def test_the_first_broken_link_is_found(
    store: TraceStore, statements: list[str], fault: ChainFault, seq: int
) -> None:
    tamper(store, *statements)
    report = store.verify_decisions()
    assert (report.ok, report.fault, report.seq) == (False, fault, seq)
    assert report.message.startswith(f"row {seq}: ")


def test_a_row_edited_and_hashed_anew_is_found_by_the_row_after_it(store: TraceStore) -> None:
    link = store.decisions()[1]
    forged = fingerprint(
        {
            "seq": 2, "kind": "answer", "run_id": "run-b", "time": NINE, "body": {"said": "no"},
            "unique": "use:b", "previous": link.previous,
        }
    )  # fmt: skip
    tamper(store, f"UPDATE decisions SET body = '{{\"said\":\"no\"}}', hash = '{forged}' WHERE seq = 2")
    report = store.verify_decisions()
    assert (report.fault, report.seq) == (ChainFault.EDITED, 2) and "hashed anew" in report.message


def test_a_row_added_from_outside_is_found(store: TraceStore) -> None:
    last = store.decisions()[-1]
    forged = fingerprint(
        {
            "seq": 6, "kind": "answer", "run_id": "run-x", "time": NINE, "body": {}, "unique": None,
            "previous": last.hash,
        }
    )  # fmt: skip
    tamper(
        store,
        "INSERT INTO decisions VALUES "
        f"(6, 'answer', 'run-x', '{NINE}', '{{}}', NULL, '{last.hash}', '{forged}')",
    )
    report = store.verify_decisions()
    assert (report.fault, report.seq) == (ChainFault.EDITED, 6) and "added from outside" in report.message


def test_what_is_appended_after_a_deletion_at_the_end_does_not_hide_it(store: TraceStore) -> None:
    tamper(store, "DELETE FROM decisions WHERE seq = 5")
    store.record_decision("answer", "run-f", {}, time=NINE)
    report = store.verify_decisions()
    assert (report.fault, report.seq) == (ChainFault.DELETED, 5)


@pytest.mark.parametrize("body", ['[["by","me"]]', "5", "null", '"x"'])
def test_a_body_that_is_no_object_is_an_edited_row(tmp_path: Path, body: str) -> None:
    path = tmp_path / "runs.db"
    with TraceStore(path) as store:
        store.open_run("r", started="2026-10-08T09:00:00+09:00")
        store.record_decision("resolve", "r", {"by": "me"}, time="2026-10-08T09:00:00+09:00")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE decisions SET body = ?", (body,))
    db.close()
    with TraceStore(path) as store:
        report = store.verify_decisions()
    assert (report.ok, report.fault, report.seq) == (False, "edited", 1)
