"""Decisions from a file: whose they are is said, and what the file does not decide is not decided."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_kit.approvers import RecordedDecisions, ask
from harness_kit.codes import Decision
from harness_kit.errors import InputError
from harness_kit.proposals import Proposal
from harness_kit.workspace import Workspace

ENTRY = {
    "purpose": "보고서 저장", "decision": "approved", "approver": "김하늘", "reason": "확인함",
    "time": "2026-10-08T09:00:00+09:00",
}  # fmt: skip


def written(folder: Path, *entries: Any, **more: Any) -> Path:
    path = folder / "decisions.json"
    held = {"format": "harness_kit.decisions.v1", "name": "녹화", "decisions": list(entries), **more}
    path.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")
    return path


def proposal(folder: Path, purpose: str) -> Proposal:
    return Proposal.for_files(
        Workspace(folder, writable={"a.md"}), purpose=purpose, files={"a.md": "x"}, cost=0
    )


def test_a_recorded_answer_is_bound_to_the_proposal_and_says_whose_it_is(tmp_path: Path) -> None:
    people, asked = RecordedDecisions(written(tmp_path, ENTRY)), proposal(tmp_path, "보고서 저장")
    answer = ask(people, asked)
    assert answer.decision is Decision.APPROVED and answer.approval is not None
    assert answer.approval.fingerprint == asked.fingerprint
    assert (answer.approval.approver, answer.approval.source) == ("김하늘", "recorded file: 녹화")


def test_a_purpose_that_is_not_in_the_file_is_hold(tmp_path: Path) -> None:
    people = RecordedDecisions(written(tmp_path, ENTRY))
    assert ask(people, proposal(tmp_path, "다른 일")).decision is Decision.HOLD


@pytest.mark.parametrize(
    ("entries", "more", "said"),
    [
        ([ENTRY, ENTRY], {}, "decided twice"),
        ([{**ENTRY, "decision": "hold"}], {}, "neither 'approved' nor 'rejected'"),
        ([{**ENTRY, "decision": "yes"}], {}, "neither"),
        ([{"purpose": "x"}], {}, "entry 1"),
        ([{**ENTRY, "approver": 3}], {}, "entry 1"),
        (["approved"], {}, "entry 1"),
        ([], {"format": "other"}, "lacks format"),
        ([], {"name": None}, "lacks format"),
        ([], {"decisions": {}}, "no list"),
    ],
)
def test_a_malformed_file_is_refused_whole(
    tmp_path: Path, entries: list[Any], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        RecordedDecisions(written(tmp_path, *entries, **more))


def test_a_file_that_cannot_be_read_names_itself(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b"\xff{")
    with pytest.raises(InputError, match=r"bad\.json.*not UTF-8 JSON"):
        RecordedDecisions(tmp_path / "bad.json")
    with pytest.raises(InputError, match=r"none\.json.*cannot be read"):
        RecordedDecisions(tmp_path / "none.json")
