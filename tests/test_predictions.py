"""A guess is written down first, compared once, and never changed afterwards."""

import pytest

from harness_kit.errors import InputError
from harness_kit.exercises.predictions import Predictions


def test_guesses_are_compared_by_value_and_type() -> None:
    guesses = Predictions()
    guesses.guess("calls", 6)
    guesses.guess("saved", 1)
    guesses.guess("later", None)
    assert guesses.compare("calls", 6) == "예상 6 · 실제 6 · 맞음"
    assert guesses.compare("saved", True) == "예상 1 · 실제 예 · 다름"
    assert guesses.compare("later", "x") == "예상 - · 실제 x · 예상 없음"
    assert guesses.table()["비교"].tolist() == ["맞음", "다름", "예상 없음"]


def test_a_guess_cannot_be_changed_once_it_was_compared() -> None:
    guesses = Predictions()
    guesses.guess("calls", 5)
    guesses.compare("calls", 6)
    guesses.guess("calls", 5)
    with pytest.raises(InputError, match="has been compared"):
        guesses.guess("calls", 6)
    with pytest.raises(InputError, match="nothing was guessed"):
        guesses.compare("other", 1)


def test_a_guess_that_is_not_compared_yet_shows_no_verdict() -> None:
    guesses = Predictions()
    guesses.guess("calls", 5)
    assert guesses.table().iloc[0].tolist() == ["calls", "5", "-", "-"]
