"""Results of an evaluation, a record a case and repeat: made by `evals` or an importer, read by `compare`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from harness_kit.codes import Outcome, ReviewStatus
from harness_kit.trace import Event

Traces = Callable[[str], Sequence[Event]]
"""Reads the events of a trace by its `trace_id`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseResult:
    """What became of one case, once."""

    case_id: str
    """Joins two runs; never a position."""
    repeat: int = 1
    """Which repeat (epoch), from 1."""
    outcome: Outcome
    score: float | None = None
    """0 to 1; None where nothing was graded."""
    reason: str = ""
    """Why the grader, or the crash, ended so."""
    actual: Any = None
    expected: Any = None
    """What it was judged by then, not what the set says today."""
    review: ReviewStatus = ReviewStatus.NOT_NEEDED
    """What a person said; beside the outcome, never instead of it."""
    input_hash: str | None = None
    expectation_hash: str | None = None
    grader_hash: str | None = None
    """Fingerprints (64 hex digits); None where a foreign file holds none, and then a cause is unknown."""
    trace_id: str | None = None
    """Run id of the trace in the store; None where there is none."""
    cost: float | None = None
    """Units, or the foreign file's own unit."""
    tokens: int | None = None
    started: str | None = None
    ended: str | None = None
    """ISO 8601 with offset."""
    duration_ms: float | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    must_pass: bool = False


@dataclass(frozen=True, kw_only=True)
class EvalRun:
    """One evaluation run. `results` may be fewer than selected: then it is not complete."""

    run_id: str
    system: str
    version: str
    results: Sequence[CaseResult]
    set_hash: str | None = None
    """Content hash of the evaluation set; None for a foreign file."""
    case_ids: tuple[str, ...] = ()
    """Every case of the set that was meant, run or not."""
    complete: bool = True
    """False where the run was cancelled, cut off, or failed before its end."""
    problem: str = ""
    """Why it is not complete, in words ('empty run', 'cancelled', …)."""
    knows_its_set: bool = True
    """False where the format carries no set (JUnit): a case absent from it is not run, not removed."""
    started: str | None = None
    ended: str | None = None
    duration_ms: float | None = None
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Whatever else is worth showing."""
    traces: Traces | None = field(default=None, compare=False, repr=False)
    """Reads the traces of the results; None where there are none."""
