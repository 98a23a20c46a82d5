"""Predict, then run: a learner's guess is written down first and compared afterwards."""

from typing import Any

from harness_kit.errors import InputError
from harness_kit.extras import need
from harness_kit.labels import Word, label


class Predictions:
    """The guesses of one sitting.

    guesses = Predictions()
    guesses.guess("calls", 5)
    guesses.compare("calls", result.calls)   # '예상 5 · 실제 6 · 다름'
    """

    def __init__(self) -> None:
        self._guesses: dict[str, Any] = {}
        self._actual: dict[str, Any] = {}

    def guess(self, name: str, value: Any) -> None:
        """Write a guess down, or change it as long as it has not been compared. None: no guess yet."""
        if name in self._actual and self._guesses.get(name) != value:
            raise InputError(f"{name!r} has been compared; run the notebook again from the top to guess anew")
        self._guesses[name] = value

    def compare(self, name: str, actual: Any) -> str:
        """Record what really came out and say in one line whether the guess was right."""
        if name not in self._guesses:
            raise InputError(f"nothing was guessed for {name!r}; call guess({name!r}, ...) first")
        self._actual[name] = actual
        row = self._row(name)
        said = [f"{word} {row[word]}" for word in (label(Word.GUESS), label(Word.ACTUAL))]
        return " · ".join([*said, row[label(Word.MATCH)]])

    def table(self) -> Any:
        """Return a pandas frame with one row a guess: question, guess, what came out, and the verdict."""
        return need("pandas", "notebook").DataFrame([self._row(name) for name in self._guesses])

    def _row(self, name: str) -> dict[str, Any]:
        guess, actual = self._guesses[name], self._actual.get(name)
        if name not in self._actual:
            verdict = "-"
        elif guess is None:
            verdict = label(Word.NOT_GUESSED)
        else:
            verdict = label(Word.AGREES if type(guess) is type(actual) and guess == actual else Word.DIFFERS)
        return {
            label(Word.QUESTION): name, label(Word.GUESS): _shown(guess), label(Word.ACTUAL): _shown(actual),
            label(Word.MATCH): verdict,
        }  # fmt: skip


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return label(Word.YES if value else Word.NO)
    return str(value)
