"""The gate: exactly what was approved is written, once, by somebody other than its proposer."""

import dataclasses
import time as clock_module
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness_kit.approval import Approval, CommitResult, commit
from harness_kit.approvers import ScriptedApprover, ask
from harness_kit.codes import CommitStatus, Decision, Refusal
from harness_kit.errors import ApprovalError, CanonicalError, ConfinementError, InputError, WorkspaceError
from harness_kit.proposals import Proposal
from harness_kit.store import TraceStore
from harness_kit.trace import fixed_clock
from harness_kit.workspace import Workspace

TIME = "2026-10-08T09:00:00+09:00"
CLOCK = fixed_clock(TIME)
FILES = {"report.md": "# 보고서\n\n- 하나\n", "notes.md": "둘\n"}


def workspace_in(folder: Path) -> Workspace:
    folder.mkdir(parents=True, exist_ok=True)
    return Workspace(folder, writable=set(FILES))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return workspace_in(tmp_path / "work")


def proposal_for(ws: Workspace, files: Mapping[str, str] = FILES, **more: Any) -> Proposal:
    given = {"purpose": "보고서 저장", "cost": 6, "run_id": "r", **more}
    return Proposal.for_files(ws, files=files, **given)


def approved(proposal: Proposal, **more: Any) -> Approval:
    given = {"approver": "김검토", "source": "test", "time": TIME, **more}
    return Approval.of(proposal, Decision.APPROVED, **given)


def disk(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_refused(result: CommitResult, status: CommitStatus, refusal: Refusal) -> None:
    assert (result.status, result.refusal, dict(result.files)) == (status, refusal, {})
    assert result.why


def test_an_approved_proposal_is_written_and_read_back(ws: Workspace) -> None:
    proposal = proposal_for(ws)
    result = commit(ws, proposal, approved(proposal))
    assert (result.status, result.refusal) == (CommitStatus.SAVED, None)
    assert {name: ws.read_text(name) for name in FILES} == FILES
    assert result.files == {name: ws.digest(name) for name in FILES}


@pytest.mark.parametrize("decision", [None, Decision.REJECTED])
def test_no_answer_and_a_refusal_write_nothing(ws: Workspace, decision: Decision | None) -> None:
    proposal = proposal_for(ws)
    approval = None if decision is None else dataclasses.replace(approved(proposal), decision=decision)
    result = commit(ws, proposal, approval)
    assert_refused(result, CommitStatus.REJECTED, Refusal.NO_ANSWER if decision is None else Refusal.DECLINED)
    assert disk(ws.root) == {}


CHANGES: dict[str, dict[str, Any]] = {
    "text": {"files": {**FILES, "report.md": FILES["report.md"] + "검토하지 않은 문장\n"}},
    "a file less": {"files": {"report.md": FILES["report.md"]}, "base": {"report.md": None}},
    "purpose": {"purpose": "다른 목적"},
    "cost": {"cost": 7},
    "proposer": {"proposer": "another role"},
    "base": {"base": {"report.md": "0" * 64, "notes.md": None}},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_after_approval_is_another_question(ws: Workspace, what: str) -> None:
    asked = proposal_for(ws)
    changed = dataclasses.replace(asked, **CHANGES[what])
    result = commit(ws, changed, approved(asked))
    assert_refused(result, CommitStatus.MISMATCH, Refusal.CHANGED)
    assert result.question is not None and result.question.number == 2
    assert disk(ws.root) == {}


def test_a_mismatch_shows_what_was_approved_against_what_it_is_now(ws: Workspace) -> None:
    asked = proposal_for(ws)
    now = asked.with_files({**FILES, "notes.md": "둘 반\n"})
    result = commit(ws, now, approved(asked))
    assert "-둘\n+둘 반\n" in result.difference
    assert "보고서" not in result.difference, "files that did not change are not shown"


@pytest.mark.parametrize(
    ("run_id", "number"), [("other", 1), ("r", 2)], ids=["another run", "another question of the run"]
)
def test_an_approval_of_another_proposal_is_foreign(ws: Workspace, run_id: str, number: int) -> None:
    other = proposal_for(ws, run_id=run_id, number=number)
    result = commit(ws, proposal_for(ws), approved(other))
    assert_refused(result, CommitStatus.MISMATCH, Refusal.FOREIGN)
    assert disk(ws.root) == {}


def test_the_same_text_in_another_workspace_is_another_question(ws: Workspace, tmp_path: Path) -> None:
    elsewhere = workspace_in(tmp_path / "elsewhere")
    asked = proposal_for(elsewhere)
    assert_refused(commit(ws, asked, approved(asked)), CommitStatus.MISMATCH, Refusal.FOREIGN)
    assert_refused(commit(ws, proposal_for(ws), approved(asked)), CommitStatus.MISMATCH, Refusal.CHANGED)
    assert disk(ws.root) == disk(elsewhere.root) == {}


def test_a_file_that_changed_on_disk_is_not_overwritten(ws: Workspace) -> None:
    proposal = proposal_for(ws)
    (ws.root / "report.md").write_text("somebody else's", encoding="utf-8")
    result = commit(ws, proposal, approved(proposal))
    assert_refused(result, CommitStatus.MISMATCH, Refusal.BASE_CHANGED)
    assert disk(ws.root)["report.md"] == b"somebody else's"
    assert not (ws.root / "notes.md").exists()
    assert result.question is not None and result.question.base["report.md"] == ws.digest("report.md")
    assert commit(ws, result.question, approved(result.question)).status is CommitStatus.SAVED


@pytest.mark.parametrize("with_store", [False, True])
def test_an_approval_serves_once(ws: Workspace, with_store: bool) -> None:
    with TraceStore(":memory:") as opened:
        store = opened if with_store else None
        proposal = proposal_for(ws)
        answer = approved(proposal)
        assert commit(ws, proposal, answer, store=store).status is CommitStatus.SAVED
        for name in FILES:
            (ws.root / name).unlink()
        assert_refused(commit(ws, proposal, answer, store=store), CommitStatus.MISMATCH, Refusal.USED)
        assert not any((ws.root / name).exists() for name in FILES)


def test_a_proposal_outside_a_run_can_be_claimed_in_a_store_too(ws: Workspace) -> None:
    with TraceStore(":memory:") as store:
        proposal = Proposal.for_files(ws, purpose="보고서 저장", files={"report.md": "x"}, cost=0)
        answer = approved(proposal)
        assert commit(ws, proposal, answer, store=store).status is CommitStatus.SAVED
        assert [link.kind for link in store.decisions()] == ["use"]


def test_one_nonce_serves_one_proposal_only(ws: Workspace) -> None:
    with TraceStore(":memory:") as store:
        first = proposal_for(ws, {"report.md": "하나\n"})
        commit(ws, first, approved(first, nonce="n"), store=store)
        second = proposal_for(ws, {"notes.md": "둘\n"}, number=2)
        result = commit(ws, second, approved(second, nonce="n"), store=store)
        assert_refused(result, CommitStatus.MISMATCH, Refusal.USED)
        assert not (ws.root / "notes.md").exists()


@pytest.mark.parametrize(
    ("now", "saved"),
    [
        ("2026-10-08T08:59:59+09:00", True),
        ("2026-10-08T09:00:00+09:00", False),
        ("2026-10-08T00:00:01Z", False),
        (None, False),
    ],
)
def test_an_approval_expires_at_its_moment_in_whatever_offset(
    ws: Workspace, now: str | None, saved: bool
) -> None:
    proposal = proposal_for(ws)
    result = commit(ws, proposal, approved(proposal, expires=TIME), now=now)
    if saved:
        assert result.status is CommitStatus.SAVED
    else:
        assert_refused(result, CommitStatus.MISMATCH, Refusal.EXPIRED)
        assert disk(ws.root) == {}


def test_a_signature_is_checked_against_the_key(ws: Workspace) -> None:
    proposal = proposal_for(ws)
    signed = approved(proposal, key=b"secret")
    forged = [
        dataclasses.replace(signed, approver="somebody else"),
        dataclasses.replace(signed, signature="0" * 64),
        approved(proposal),
        approved(proposal, key=b"another secret"),
    ]
    for answer in forged:
        assert_refused(commit(ws, proposal, answer, key=b"secret"), CommitStatus.REJECTED, Refusal.FORGED)
    assert_refused(commit(ws, proposal, signed), CommitStatus.REJECTED, Refusal.FORGED)
    assert disk(ws.root) == {}
    assert commit(ws, proposal, signed, key=b"secret").status is CommitStatus.SAVED


@pytest.mark.parametrize(
    "name", ["writer", " Writer ", "WRITER", "ｗｒｉｔｅｒ", "writer\ufe0f", "writer\u3164", "w riter"]
)
def test_the_proposing_role_may_not_approve(ws: Workspace, name: str) -> None:
    proposal = proposal_for(ws, proposer="writer")
    result = commit(ws, proposal, approved(proposal, approver=name))
    assert_refused(result, CommitStatus.REJECTED, Refusal.SELF_APPROVED)
    assert disk(ws.root) == {}


@pytest.mark.parametrize("field", ["approver", "source", "time", "nonce", "fingerprint"])
@pytest.mark.parametrize("value", ["", "  ", None, 3])
def test_a_blank_field_makes_no_approval(ws: Workspace, field: str, value: Any) -> None:
    good = approved(proposal_for(ws))
    with pytest.raises(ApprovalError, match=field):
        dataclasses.replace(good, **{field: value})
    with pytest.raises(ApprovalError):
        Approval.from_record({**good.record(), field: value})


@pytest.mark.parametrize(
    "name", ["wri\u200bter", "\u200b", "\u3164", "\u2800", "kim\n2 approved", "\x1b[8mkim"]
)
def test_a_name_or_nonce_that_cannot_be_seen_makes_no_approval(ws: Workspace, name: str) -> None:
    for field in ("approver", "nonce"):
        with pytest.raises(ApprovalError, match="visible text"):
            approved(proposal_for(ws), **{field: name})


def test_an_approval_of_another_kind_or_an_empty_key_proves_nothing(ws: Workspace) -> None:
    class Sly(Approval):
        def sign(self, key: bytes) -> str:
            return str(self.signature)

    proposal = proposal_for(ws)
    sly = Sly(**{**approved(proposal).record(), "signature": "0" * 64})
    assert_refused(commit(ws, proposal, sly, key=b"secret"), CommitStatus.REJECTED, Refusal.FORGED)
    with pytest.raises(ApprovalError, match="empty"):
        commit(ws, proposal, approved(proposal, key=b"x"), key=b"")
    assert disk(ws.root) == {}


def test_a_full_disk_does_not_use_an_approval_up(ws: Workspace) -> None:
    def full(point: str) -> None:
        if point == "planned":
            raise OSError(28, "No space left on device")

    with TraceStore(":memory:") as store:
        proposal = proposal_for(ws)
        answer = approved(proposal)
        ws._at = full
        with pytest.raises(WorkspaceError):
            commit(ws, proposal, answer, store=store)
        ws._at = lambda point: None
        assert commit(ws, proposal, answer, store=store).status is CommitStatus.SAVED
        assert_refused(commit(ws, proposal, answer, store=store), CommitStatus.MISMATCH, Refusal.USED)
        assert len(store.decisions(kind="use")) == 1


def test_a_commit_cut_off_past_its_point_is_saved_though_the_approval_has_expired_since(
    ws: Workspace,
) -> None:
    def cut(point: str) -> None:
        if point == "renamed 0":
            raise KeyboardInterrupt

    proposal = proposal_for(ws)
    answer = approved(proposal, expires="2026-10-08T09:05:00+09:00")
    ws._at = cut
    with pytest.raises(KeyboardInterrupt):
        commit(ws, proposal, answer, now=TIME)
    ws._at = lambda point: None
    late = commit(ws, proposal, answer, now="2026-10-08T09:10:00+09:00")
    assert late.status is CommitStatus.SAVED and ws.read_text("notes.md") == FILES["notes.md"]
    assert_refused(commit(ws, proposal, answer, now=TIME), CommitStatus.MISMATCH, Refusal.USED)


def test_hold_is_no_decision_and_true_is_no_approval(ws: Workspace) -> None:
    proposal = proposal_for(ws)
    with pytest.raises(ApprovalError, match="'hold'|HOLD"):
        dataclasses.replace(approved(proposal), decision=Decision.HOLD)
    with pytest.raises(ApprovalError, match="bool is no Approval"):
        commit(ws, proposal, True)  # type: ignore[arg-type]
    assert disk(ws.root) == {}


def test_a_proposal_is_a_snapshot(ws: Workspace) -> None:
    files = dict(FILES)
    proposal = proposal_for(ws, files)
    before = proposal.fingerprint
    files["report.md"] = "mutated"
    assert proposal.files == FILES and proposal.fingerprint == before
    with pytest.raises(TypeError):
        proposal.files["report.md"] = "mutated"  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        proposal.cost = 0  # type: ignore[misc]
    assert commit(ws, proposal, approved(proposal)).status is CommitStatus.SAVED
    assert ws.read_text("report.md") == FILES["report.md"]


def test_records_come_back_as_the_same_question_and_answer(ws: Workspace) -> None:
    proposal = proposal_for(ws)
    assert Proposal.from_record(proposal.record()) == proposal
    answer = approved(proposal, key=b"k", expires="2027-01-01T00:00:00+00:00")
    again = Approval.from_record(answer.record())
    assert again == answer and again.sign(b"k") == answer.signature
    with pytest.raises(InputError, match="not a proposal record"):
        Proposal.from_record({"files": {}})
    with pytest.raises(ApprovalError, match="not an approval record"):
        Approval.from_record({**answer.record(), "extra": 1})


def test_what_stays_after_a_decision_holds_no_text(ws: Workspace) -> None:
    kept = repr(proposal_for(ws).summary())
    assert "하나" not in kept and "report.md" in kept


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({}, InputError),
        ({"other.md": "x"}, ConfinementError),
        ({"../report.md": "x"}, ConfinementError),
        ({"report.md": b"bytes"}, InputError),
        ({"report.md": "\ud800"}, CanonicalError),
        ({"report.md": "x", "notes.md": None}, InputError),
    ],
    ids=str,
)
def test_a_proposal_that_cannot_be_written_is_not_made(
    ws: Workspace, files: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        proposal_for(ws, files)
    assert disk(ws.root) == {}


def test_asking_turns_every_failure_to_answer_into_hold(ws: Workspace) -> None:
    proposal = proposal_for(ws)

    def broken(asked: Proposal) -> Approval:
        raise OSError("screen gone")

    def hangs(asked: Proposal) -> Approval:
        clock_module.sleep(30)
        return approved(asked)

    for approver, why in [
        (lambda asked: None, "nobody"),
        (broken, "OSError: screen gone"),
        (lambda asked: True, "bool, not an Approval"),
        (lambda asked: "approved", "str, not an Approval"),
    ]:
        answer = ask(approver, proposal)  # type: ignore[arg-type]
        assert (answer.decision, answer.approval) == (Decision.HOLD, None)
        assert why in answer.why
    late = ask(hangs, proposal, timeout=0.05)
    assert late.decision is Decision.HOLD and "0.05 s" in late.why


def test_a_scripted_approver_answers_by_name(ws: Workspace) -> None:
    proposal = proposal_for(ws)
    answer = ask(
        ScriptedApprover(decision=Decision.APPROVED, approver="김검토", clock=CLOCK), proposal, timeout=5
    )
    assert answer.decision is Decision.APPROVED and answer.approval is not None
    assert (answer.approval.approver, answer.approval.source, answer.approval.time) == (
        "김검토",
        "scripted",
        TIME,
    )
    assert commit(ws, proposal, answer.approval).status is CommitStatus.SAVED


def test_the_difference_is_against_the_disk_and_keeps_line_ends_apart(ws: Workspace) -> None:
    (ws.root / "report.md").write_bytes(b"one\r\ntwo")
    shown = proposal_for(ws, {"report.md": "one\ntwo\n"}).diff(ws)
    assert "-one\r\n" in shown and "+one\n" in shown
    assert "\\ No newline at end of file" in shown
