"""Graders: what each one takes for right, with the wrong answers that look like it."""

from typing import Any

import pytest

from harness_kit.errors import InputError
from harness_kit.graders import Grade, Raised, grader, grader_hash, named, same

RIGHT: list[tuple[str, Any, Any]] = [
    ("ordered_exact", ["가", "나"], ["가", "나"]),
    ("ordered_exact", {"b": 1, "a": [None]}, {"a": [None], "b": 1}),
    ("unordered", ["나", "가", "가"], ["가", "나", "가"]),
    ("unordered", [], []),
    ("contains_all", ["가", "나", "다"], ["다", "가"]),
    ("contains_all", "사과와 배", ["배", "사과"]),
    ("contains_all", [], []),
    ("contains_none", ["가"], ["나"]),
    ("contains_none", "사과", ["배"]),
    ("number_close", 0.1 + 0.2, 0.3),
    ("number_close", 101, {"value": 100, "abs": 1}),
    ("number_close", 101, {"value": 100, "rel": 0.02}),
    ("matches", "2026-10-08", r"\d{4}-\d\d-\d\d"),
    ("raises", Raised(name="ValueError"), "ValueError"),
    ("json_subset", {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 1}}),
]
WRONG: list[tuple[str, Any, Any]] = [
    ("ordered_exact", ["나", "가"], ["가", "나"]),
    ("ordered_exact", True, 1),
    ("ordered_exact", 1, 1.0),
    ("ordered_exact", [1], [True]),
    ("ordered_exact", ("가",), ["가"]),
    ("ordered_exact", None, []),
    ("unordered", ["가"], ["가", "가"]),
    ("unordered", [1], [True]),
    ("unordered", "가나", ["가", "나"]),
    ("contains_all", ["가"], ["가", "나"]),
    ("contains_all", [1], [True]),
    ("contains_none", ["가", "나"], ["나"]),
    ("contains_none", "사과와 배", ["배"]),
    ("number_close", True, 1),
    ("number_close", "1", 1),
    ("number_close", float("nan"), float("nan")),
    ("number_close", 102, {"value": 100, "abs": 1}),
    ("matches", "x2026-10-08", r"\d{4}-\d\d-\d\d"),
    ("matches", 2026, r"\d+"),
    ("raises", Raised(name="UnicodeDecodeError"), "ValueError"),
    ("raises", "ValueError", "ValueError"),
    ("json_subset", {"a": {"b": True}}, {"a": {"b": 1}}),
    ("json_subset", {"a": [1, 2]}, {"a": [1]}),
    ("json_subset", {}, {"a": None}),
]


@pytest.mark.parametrize(("name", "actual", "expected"), RIGHT)
def test_right_answers_pass_with_no_reason(name: str, actual: Any, expected: Any) -> None:
    assert named(name)(actual, expected) == Grade(passed=True, score=1.0, reason="")


@pytest.mark.parametrize(("name", "actual", "expected"), WRONG)
def test_answers_that_only_look_right_fail_with_a_reason(name: str, actual: Any, expected: Any) -> None:
    grade = named(name)(actual, expected)
    assert not grade.passed and grade.score < 1 and grade.reason


def test_a_value_that_equals_everything_is_not_the_same() -> None:
    class Sly:
        def __eq__(self, other: object) -> bool:
            return True

    assert not same(Sly(), 1) and not named("ordered_exact")([Sly()], [1]).passed


def test_part_of_what_must_be_there_is_part_of_the_score() -> None:
    assert named("contains_all")(["가"], ["가", "나"]).score == 0.5


@pytest.mark.parametrize("name", ["exact", "", None, "ORDERED_EXACT", 3])
def test_an_unknown_name_is_an_error_and_never_a_default(name: Any) -> None:
    with pytest.raises(InputError, match="ordered_exact"):
        named(name)


def test_your_own_grader_has_a_name_and_a_hash_that_follows_its_code() -> None:
    @grader("is_long")
    def is_long(actual: Any, expected: Any) -> Grade:
        return Grade.of(len(actual) > expected, "too short")

    first = grader_hash("is_long")
    assert named("is_long")("가나다", 2).passed

    @grader("is_long")
    def is_longer(actual: Any, expected: Any) -> Grade:
        return Grade.of(len(actual) >= expected + 2, "too short")

    assert grader_hash("is_long") != first and not named("is_long")("가나다", 2).passed
    with pytest.raises(InputError, match="one of the kit's own"):
        grader("ordered_exact")(is_long)
    with pytest.raises(InputError, match="blank"):
        grader(" ")
