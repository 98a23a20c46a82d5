"""One case, once: the system's answer, its grade, and the four steps input → model → tool → verify."""

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

from harness_kit import canonical
from harness_kit.cases import Case
from harness_kit.codes import Outcome, ReviewStatus
from harness_kit.errors import CanonicalError
from harness_kit.graders import Grade, Raised, named
from harness_kit.results import CaseResult
from harness_kit.trace import Clock, moment

UNTIMED = "1970-01-01T00:00:00+00:00"
"""Time of events where no clock was passed in."""
Step: TypeAlias = tuple[str, str, str]
"""Time, stage and canonical data of one step."""
Ran: TypeAlias = tuple[CaseResult, list[Step]]


def not_run(case: Case, repeat: int, outcome: Outcome, reason: str) -> Ran:
    """Return the result of a case that was not run."""
    # What it weighs and which tags it has, a score that lacks it must know.
    return CaseResult(
        case_id=case.id, repeat=repeat, outcome=outcome, reason=reason, tags=case.tags,
        weight=float(case.weight), must_pass=case.must_pass, expected=case.expected,
        input_hash=case.hashes["input"], expectation_hash=case.hashes["expected"],
        grader_hash=case.hashes["criterion"],
    ), []  # fmt: skip


def takes_note(system: Callable[..., Any]) -> bool:
    """Say whether a system wants to tell its own steps."""
    try:
        return "note" in inspect.signature(system).parameters
    except (TypeError, ValueError):
        return False


def run_case(
    system: Callable[..., Any],
    takes_note: bool,
    run_id: str,
    repeats: int,
    clock: Clock | None,
    case: Case,
    repeat: int,
) -> Ran:
    """Run one case once. Nothing that the system raises or returns ends the evaluation."""
    steps: list[Step] = []

    def note(stage: str, /, **data: Any) -> None:
        steps.append((clock() if clock else UNTIMED, stage, canonical.text(data)))

    note("input", case_id=case.id)
    started = steps[0][0]
    error: str | None = None
    actual: Any = None
    try:
        # The system gets a copy: what it does to its input stays with it.
        given = case.input if isinstance(case.input, str) else canonical.loads(canonical.text(case.input))
        actual = system(given, note=note) if takes_note else system(given)
        canonical.text(actual)
    except CanonicalError as problem:
        error, actual = f"the answer is no plain JSON: {problem}", None
    except Exception as problem:
        kind = type(problem)
        raised = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        if case.criterion == "raises":
            actual = Raised(name=raised)
        else:
            error, actual = f"{raised}: {problem}", None
    told = {stage for _, stage, _ in steps}
    shown = {"raised": actual.name} if isinstance(actual, Raised) else {"output": actual}
    if "model" not in told:
        note("model", tool=getattr(system, "__name__", type(system).__name__))
    if "tool" not in told:
        note("tool", **({"error": error} if error else shown))
    grade = Grade(passed=False, score=0.0, reason=error or "") if error else None
    if grade is None:
        try:
            grade = named(case.criterion)(actual, case.expected)
            if not isinstance(grade, Grade) or not 0 <= grade.score <= 1:
                raise TypeError(f"grader returned {grade!r}; expected a Grade with a score from 0 to 1")
        except Exception as problem:
            error = f"grader {case.criterion!r} raised {type(problem).__name__}: {problem}"
            grade = Grade(passed=False, score=0.0, reason=error)
    note("verify", passed=grade.passed)
    outcome = Outcome.ERRORED if error else Outcome.PASSED if grade.passed else Outcome.FAILED
    ended = steps[-1][0]
    result = CaseResult(
        case_id=case.id,
        repeat=repeat,
        outcome=outcome,
        score=None if error else float(grade.score),
        reason=grade.reason,
        actual=shown if isinstance(actual, Raised) else actual,
        review=ReviewStatus.PENDING
        if case.human or outcome is not Outcome.PASSED
        else ReviewStatus.NOT_NEEDED,
        expected=case.expected,
        input_hash=case.hashes["input"],
        expectation_hash=case.hashes["expected"],
        grader_hash=case.hashes["criterion"],
        tags=case.tags,
        weight=float(case.weight),
        must_pass=case.must_pass,
        trace_id=f"{run_id}:{case.id}" + (f":{repeat}" if repeats > 1 else ""),
        started=started if clock else None,
        ended=ended if clock else None,
        duration_ms=(moment(ended) - moment(started)).total_seconds() * 1000 if clock else None,
    )
    return result, steps
