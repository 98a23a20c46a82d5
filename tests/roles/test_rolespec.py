"""How reviews become one decision: by the specification, never by arrival."""

from itertools import permutations

import pytest

from harness_kit.errors import ConfinementError, InputError, ModelError
from harness_kit.rolespec import Review, Spec, candidate_id, merge, read_candidate, read_review

SPEC = Spec(
    file="a.txt",
    content={},
    reviewers=("form", "content", "length"),
    issues=("LONGER", "SHORTER", "NO_CHECK", "NO_TITLE"),
    contradictions=(("LONGER", "SHORTER"),),
)
ID = candidate_id("글\n")


def said(role: str, *issues: str, of: str = ID) -> Review:
    return Review(role=role, candidate_id=of, approved=not issues, issues=issues)


def test_issues_come_in_the_order_of_the_spec_whoever_answers_first() -> None:
    reviews = [said("form", "NO_TITLE"), said("content", "NO_CHECK"), said("length", "LONGER")]
    for order in permutations(reviews):
        merged = merge(SPEC, ID, order)
        assert merged.feedback == ("LONGER", "NO_CHECK", "NO_TITLE")
        assert (merged.passed, merged.dropped, merged.unresolved) == (False, (), ())


def test_one_failure_beats_two_passes() -> None:
    assert merge(SPEC, ID, [said("form"), said("content"), said("length")]).passed
    assert not merge(SPEC, ID, [said("form"), said("content", "NO_CHECK"), said("length")]).passed


@pytest.mark.parametrize(
    "reviews",
    [
        [],
        [said("form"), said("content")],
        [said("form"), said("content"), said("length"), said("style")],
        [said("form"), said("form"), said("content"), said("length")],
        [said("form"), said("content"), said("length", of=candidate_id("옛 글\n"))],
    ],
    ids=["none", "missing", "stranger", "doubled", "older candidate"],
)
def test_reviews_that_do_not_fit_are_refused(reviews: list[Review]) -> None:
    with pytest.raises(InputError):
        merge(SPEC, ID, reviews)


def test_a_contradiction_without_priority_stays_unresolved_with_both_kept() -> None:
    merged = merge(SPEC, ID, [said("form", "SHORTER"), said("content", "NO_CHECK"), said("length", "LONGER")])
    assert merged.unresolved == ("LONGER", "SHORTER")
    assert merged.feedback == ("NO_CHECK",) and not merged.passed


def test_a_contradiction_follows_the_priority_and_names_what_it_dropped() -> None:
    for priority, kept, dropped in (
        (("SHORTER", "LONGER"), "SHORTER", "LONGER"),
        (("LONGER", "SHORTER"), "LONGER", "SHORTER"),
    ):
        spec = Spec.from_record({**SPEC.record(), "priority": priority})
        merged = merge(spec, ID, [said("form", "SHORTER"), said("content"), said("length", "LONGER")])
        assert (merged.feedback, merged.dropped, merged.unresolved) == ((kept,), (dropped,), ())


def test_half_a_priority_decides_nothing() -> None:
    spec = Spec.from_record({**SPEC.record(), "priority": ["SHORTER"]})
    merged = merge(spec, ID, [said("form", "SHORTER"), said("content"), said("length", "LONGER")])
    assert merged.unresolved == ("LONGER", "SHORTER") and merged.feedback == ()


def test_what_an_overruled_issue_contradicts_is_free_again() -> None:
    spec = Spec(
        file="a.txt", content={}, reviewers=("one",), issues=("A", "B", "C"),
        contradictions=(("A", "B"), ("B", "C")), priority=("A", "B", "C"),
    )  # fmt: skip
    merged = merge(spec, ID, [said("one", "C", "B", "A")])
    assert (merged.feedback, merged.dropped) == (("A", "C"), ("B",))


GOOD = {"candidate_id": ID, "approved": False, "issues": ["NO_CHECK"]}


def test_a_well_formed_review_is_read() -> None:
    review = read_review(GOOD, role="content", codes=["NO_CHECK"], judged=ID)
    assert review == said("content", "NO_CHECK")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"candidate_id": candidate_id("옛 글\n")}, "not of"),
        ({"candidate_id": None}, "not of"),
        ({"approved": True}, "passes the candidate and leaves"),
        ({"issues": []}, "names no issue"),
        ({"issues": ["WHATEVER"]}, "not this reviewer's"),
        ({"issues": ["NO_CHECK", "NO_CHECK"]}, "twice"),
        ({"issues": "NO_CHECK"}, "list of codes"),
        ({"issues": [1]}, "list of codes"),
        ({"issues": None}, "list of codes"),
        ({"approved": 1}, "true or false"),
        ({"approved": "true"}, "true or false"),
        ({"text": "고친 글"}, "fields"),
    ],
)
def test_a_review_that_does_not_hold_together_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        read_review({**GOOD, **change}, role="content", codes=["NO_CHECK"], judged=ID)


def test_a_writer_answers_a_text_and_may_praise_itself_beside_it() -> None:
    assert read_candidate({"candidate": "글\n", "report": "완벽함"}) == "글\n"
    for wrong in ({}, {"candidate": " \n"}, {"candidate": 3}, {"candidate": "글", "save": True}):
        with pytest.raises(ModelError):
            read_candidate(wrong)


@pytest.mark.parametrize(
    "change",
    [
        {"reviewers": ()}, {"issues": ()}, {"issues": ("A", "A")}, {"reviewers": ("",)},
        {"reviewers": "form"},
        {"contradictions": (("LONGER", "LONGER"),)}, {"contradictions": (("LONGER",),)},
        {"contradictions": (("LONGER", "BRIEFER"),)}, {"priority": ("BRIEFER",)},
        {"content": {"x": float("nan")}},
    ],
)  # fmt: skip
def test_a_spec_whose_rules_do_not_fit_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Spec.from_record({**SPEC.record(), **change})
    with pytest.raises(ConfinementError):
        Spec.from_record({**SPEC.record(), "file": "../a.txt"})


def test_a_spec_survives_its_record() -> None:
    assert Spec.from_record(SPEC.record()) == SPEC
