"""The five chapters: wiring and story only. `run()` returns values, `lines()` the printed text."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """One chapter that can be reproduced."""

    number: str
    """Two digits, as its notebook is named."""
    name: str
    golden: str
    """File in `data/golden` with the text that it must print."""
    lines: Callable[[], list[str]]
    """Runs the chapter and returns what it prints, a line each."""


def _approval_gate() -> list[str]:
    from harness_kit.scenarios import approval_gate

    return approval_gate.lines()


def _writer_reviewer() -> list[str]:
    from harness_kit.scenarios import writer_reviewer

    return writer_reviewer.lines()


def _evaluation() -> list[str]:
    from harness_kit.scenarios import evaluation

    return evaluation.lines()


CHAPTERS: tuple[Chapter, ...] = (
    Chapter(number="02", name="writer_reviewer", golden="writer_reviewer.txt", lines=_writer_reviewer),
    Chapter(number="03", name="evaluation", golden="evaluation.txt", lines=_evaluation),
    Chapter(number="04", name="approval_gate", golden="approval_gate.txt", lines=_approval_gate),
)
"""The chapters that exist, in the order of their numbers."""
