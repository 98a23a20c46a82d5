"""Two roles at one file lose a line; with one owner no confirmed line is ever lost."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_kit.approvers import ScriptedApprover
from harness_kit.codes import Decision
from harness_kit.scenarios.shared_file import one_owner, two_owners
from harness_kit.trace import fixed_clock

PERSON = ScriptedApprover(
    decision=Decision.APPROVED, approver="김하늘", clock=fixed_clock("2026-10-08T09:00:00+09:00")
)
BOTH_LOOK_FIRST = ["writer", "reviewer", "reviewer", "writer"]


def test_without_a_coordinator_a_line_that_was_reported_as_saved_is_gone(tmp_path: Path) -> None:
    shared = two_owners(tmp_path, BOTH_LOOK_FIRST)
    assert shared.confirmed == ("reviewer 1", "writer 1") and shared.refused == ()
    assert shared.text == "writer 1\n" and shared.lost == ("reviewer 1",)


def test_with_it_the_later_one_is_told_that_the_file_has_changed(tmp_path: Path) -> None:
    shared = one_owner(tmp_path, BOTH_LOOK_FIRST, PERSON)
    assert shared.confirmed == ("reviewer 1",) and shared.refused == ("writer 1",)
    assert shared.text == "reviewer 1\n" and shared.lost == ()


def test_who_looks_again_is_saved_too(tmp_path: Path) -> None:
    shared = one_owner(tmp_path, [*BOTH_LOOK_FIRST, "writer", "writer"], PERSON)
    assert shared.confirmed == ("reviewer 1", "writer 2") and shared.text == "reviewer 1\nwriter 2\n"


def test_one_after_the_other_both_ways_keep_all(tmp_path: Path) -> None:
    moves = ["writer", "writer", "reviewer", "reviewer"]
    for name, way in (("two", two_owners), ("one", lambda root, moves: one_owner(root, moves, PERSON))):
        (tmp_path / name).mkdir()
        shared = way(tmp_path / name, moves)
        assert shared.text == "writer 1\nreviewer 1\n" and shared.lost == ()


MOVES = st.lists(st.sampled_from(["writer", "reviewer", "editor"]), min_size=4, max_size=9)


def _keeps_every_confirmed_line(moves: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shared = one_owner(Path(folder).resolve(), moves, PERSON)
    assert tuple(shared.text.splitlines()) == shared.confirmed
    saves = sum(moves.count(role) // 2 for role in set(moves))
    assert len(shared.confirmed) + len(shared.refused) == saves
    assert shared.confirmed or not saves, "whoever saves first is saved"


@settings(max_examples=60)
@given(MOVES)
def test_every_confirmed_line_stays_in_any_interleaving(moves: list[str]) -> None:
    _keeps_every_confirmed_line(moves)


@pytest.mark.slow
@settings(max_examples=1000)
@given(MOVES)
def test_every_confirmed_line_stays_in_a_thousand_interleavings(moves: list[str]) -> None:
    _keeps_every_confirmed_line(moves)
