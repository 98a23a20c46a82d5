"""The umbrella: tracer first, exception rules on what it hands on, and both results joined."""

from collections.abc import Sequence

from harness_kit.errors import InputError
from harness_kit.journal.config import Config
from harness_kit.journal.context import duplicate_ids
from harness_kit.journal.quiet import quiet
from harness_kit.journal.rows import Classification, Row, sorted_allocations
from harness_kit.journal.skills import Skills, packaged


@quiet()
def classify(rows: Sequence[Row], config: Config, skills: Skills | None = None) -> Classification:
    """Allocate the |amount| of every target row; `InputError` where the config or the row ids forbid it.

    The order of `rows` does not matter. `skills` are the package's unless given.
    """
    if faults := config.faults():
        raise InputError(f"config: {faults[0]}")
    if twice := duplicate_ids(rows):
        raise InputError(f"row id {twice[0]!r} stands twice; remove the repeated line or number it")
    used = skills or packaged()
    traced = used.trace(rows, config)
    judged = used.judge(traced.unmatched, config)
    joined = sorted_allocations((*traced.allocations, *judged))
    return Classification(traced=traced, judged=judged, allocations=joined)
