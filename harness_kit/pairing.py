"""One run as one side of a comparison: its cases by id, each with all its repeats as one standing.

What joins is the case's id, never a position. A case run once stays the `CaseResult` that it was, since a
run may hold a million; one with repeats becomes a `CaseSummary`. Both have the four fields of `state`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from harness_kit.codes import Outcome, Standing
from harness_kit.errors import InputError
from harness_kit.results import CaseResult, EvalRun

state = attrgetter("outcome", "input_hash", "expectation_hash", "grader_hash")
"""How a case stands and what it was judged by."""

RAN: frozenset[str] = frozenset({Standing.PASSED, Standing.FAILED, Standing.ERRORED, Standing.MIXED})


@dataclass(frozen=True, kw_only=True)
class CaseSummary:
    """One case in one run, over all its repeats."""

    case_id: str
    outcome: Standing
    results: tuple[CaseResult, ...]
    """By repeat; empty where the case was meant and no result came."""
    passed: int
    """Repeats that passed, …"""
    errored: int
    """… that crashed, …"""
    missing: int
    """… and that were meant and not run."""
    input_hash: str | None = None
    expectation_hash: str | None = None
    grader_hash: str | None = None

    @property
    def ran(self) -> int:
        """Repeats that ran, crashed ones included."""
        return sum(result.outcome in RAN for result in self.results)

    @property
    def score(self) -> float | None:
        """Mean score of the repeats that were graded; None where none was. A crash is graded by nobody."""
        scores = [result.score for result in self.results if result.score is not None]
        return math.fsum(scores) / len(scores) if scores else None

    def shown(self, *, passing: bool) -> CaseResult | None:
        """Return the first repeat that passed (or that ran and did not); else the first that ran, or any."""
        ran = [result for result in self.results if result.outcome in RAN]
        for result in ran:
            if (result.outcome == Outcome.PASSED) is passing:
                return result
        for result in (*ran, *self.results):
            return result
        return None


Held = CaseResult | CaseSummary


def summary(held: Held) -> CaseSummary:
    """Return a case run once as what one with repeats is."""
    return held if isinstance(held, CaseSummary) else _summary(held.case_id, (held,))


@dataclass(frozen=True, kw_only=True)
class Score:
    """Weighted passes of the cases that were selected. A crash did not pass."""

    passed: float
    """Weight that passed; of a case with repeats, the share of them that passed."""
    missing: float
    """Weight that was selected and not run."""
    selected: float
    """All weight that was selected."""

    @property
    def value(self) -> float | None:
        """0 to 1, what was not run counted as not passed; None where nothing was selected."""
        return self.passed / self.selected if self.selected else None

    @property
    def at_best(self) -> float | None:
        """0 to 1, had all that was not run passed."""
        return (self.passed + self.missing) / self.selected if self.selected else None

    @property
    def complete(self) -> bool:
        """Whether all that was selected ran."""
        return not self.missing


class Side:
    """The cases of one run; `InputError` for results that cannot be joined."""

    def __init__(self, run: EvalRun) -> None:
        if not isinstance(run, EvalRun):
            raise InputError(f"cannot compare {str(run)[:80]!r}; expected an EvalRun, as evaluate() gives")
        self.run = run
        self.held = _by_case(run)
        self.set_known = run.knows_its_set and bool(run.case_ids)
        self.meant = dict.fromkeys(run.case_ids) if run.case_ids else {}
        _check_set(run, self.meant, self.held)

    def ids(self) -> Iterable[str]:
        """Every case of the run, in the order of its set, or else of its results."""
        return self.meant or self.held

    def without_result(self, case_id: str, *, absent: Standing) -> Standing:
        """Return how a case stands that the run holds no result of; `absent` where no set tells."""
        if case_id in self.meant:
            return Standing.NOT_RUN
        return Standing.ABSENT if self.set_known else absent

    @cached_property
    def errored(self) -> tuple[str, ...]:
        """Cases of which at least one repeat crashed."""
        return tuple(
            case_id
            for case_id, held in self.held.items()
            if held.outcome == Outcome.ERRORED or (isinstance(held, CaseSummary) and held.errored)
        )

    @cached_property
    def unfinished(self) -> frozenset[str]:
        """Cases that ran, but not all their repeats."""
        several = ((case_id, held) for case_id, held in self.held.items() if isinstance(held, CaseSummary))
        return frozenset(case_id for case_id, held in several if held.missing and held.outcome in RAN)

    @cached_property
    def must_pass(self) -> tuple[str, ...]:
        """Cases that are marked as ones that must pass."""
        marked = ((case_id, first(held)) for case_id, held in self.held.items())
        return tuple(case_id for case_id, result in marked if result.must_pass)

    def score(self, tag: str | None = None, elsewhere: Mapping[str, Held] = MappingProxyType({})) -> Score:
        """Return the run's score, over all cases or those with a tag.

        `elsewhere` holds, by id, results that another run has: what a case weighs that did not run here, and
        which tags it has. Of one that neither run knows, the weight counts as one and no tag is known.
        """
        passed = missing = selected = 0.0
        for held in self.held.values():
            result = first(held)
            if held.outcome == Outcome.NOT_SELECTED or tag is not None and tag not in result.tags:
                continue
            selected += result.weight
            if isinstance(held, CaseSummary):
                repeats = held.ran + held.missing
                passed += result.weight * held.passed / repeats
                missing += result.weight * held.missing / repeats
            elif held.outcome == Outcome.PASSED:
                passed += result.weight
            elif held.outcome == Outcome.NOT_RUN:
                missing += result.weight
        for case_id in self.meant.keys() | elsewhere.keys():
            if case_id in self.held:
                continue
            known = first(elsewhere[case_id]) if case_id in elsewhere else None
            if tag is None or known is not None and tag in known.tags:
                weight = 1.0 if known is None else known.weight
                selected, missing = selected + weight, missing + weight
        return Score(passed=passed, missing=missing, selected=selected)


def first(held: Held) -> CaseResult:
    """Return the first result of a case."""
    return held if isinstance(held, CaseResult) else held.results[0]


def _by_case(run: EvalRun) -> dict[str, Held]:
    results = run.results
    ids = list(map(attrgetter("case_id"), results))
    held: dict[str, Held] = dict(zip(ids, results, strict=True))
    _check_ids(run, held, "result")
    _check_values(run)
    if len(held) == len(ids):
        return held
    repeats: dict[str, list[CaseResult]] = {}
    for case_id, result in zip(ids, results, strict=True):
        repeats.setdefault(case_id, []).append(result)
    for case_id, several in repeats.items():
        if len(several) > 1:
            held[case_id] = _summary(case_id, tuple(sorted(several, key=attrgetter("repeat"))), run)
    return held


def _summary(case_id: str, results: tuple[CaseResult, ...], run: EvalRun | None = None) -> CaseSummary:
    hashes = {state(result)[1:] for result in results}
    numbers = {result.repeat for result in results}
    if run is not None and len(numbers) < len(results):
        raise InputError(
            f"run {run.run_id!r} has two results of case {case_id!r} with one repeat number; give each "
            "case an id of its own, or number its repeats 1, 2, …"
        )
    if run is not None and len(hashes) > 1:
        raise InputError(
            f"run {run.run_id!r} judged repeats of case {case_id!r} by different inputs, expectations or "
            "graders; give what differs an id of its own"
        )
    counts = {outcome: sum(result.outcome == outcome for result in results) for outcome in Outcome}
    passed, errored = counts[Outcome.PASSED], counts[Outcome.ERRORED]
    ran = passed + errored + counts[Outcome.FAILED]
    if not ran:
        standing = Standing.NOT_RUN if counts[Outcome.NOT_RUN] else Standing.NOT_SELECTED
    elif passed:
        standing = Standing.PASSED if passed == ran else Standing.MIXED
    else:
        standing = Standing.ERRORED if errored else Standing.FAILED
    of_input, of_expectation, of_grader = next(iter(hashes))
    return CaseSummary(
        case_id=case_id, outcome=standing, results=results, passed=passed, errored=errored,
        missing=counts[Outcome.NOT_RUN], input_hash=of_input, expectation_hash=of_expectation,
        grader_hash=of_grader,
    )  # fmt: skip


def _check_ids(run: EvalRun, ids: Iterable[Any], what: str) -> None:
    # Whole columns at once, in C, since almost all runs are sound; then look for the one to name.
    if set(map(type, ids)) <= {str} and "" not in ids and not any(map(str.isspace, ids)):
        return
    bad = next(one for one in ids if not isinstance(one, str) or not one.strip())
    raise InputError(f"run {run.run_id!r} has a {what} with the case id {bad!r}; give every case an id")


def _check_values(run: EvalRun) -> None:
    known = set(Outcome)
    for name, sound, expected in (
        ("outcome", lambda value: value in known, f"one of {', '.join(Outcome)}"),
        ("repeat", lambda value: type(value) is int and value >= 1, "a whole number from 1"),
        (
            "weight",
            lambda value: type(value) in (int, float) and 0 <= value < math.inf,
            "a finite number, 0 or more",
        ),
    ):
        try:
            bad = [value for value in set(map(attrgetter(name), run.results)) if not sound(value)]
        except TypeError:
            bad = ["a value that is no plain one"]
        if bad:
            raise InputError(
                f"run {run.run_id!r} has a result whose {name} is {bad[0]!r}; expected {expected}"
            )


def _check_set(run: EvalRun, meant: dict[str, None], held: dict[str, Held]) -> None:
    _check_ids(run, meant, "set")
    if len(meant) < len(run.case_ids):
        raise InputError(f"run {run.run_id!r} names a case twice in case_ids; name each case once")
    if meant and not held.keys() <= meant.keys():
        stray = next(case_id for case_id in held if case_id not in meant)
        raise InputError(
            f"run {run.run_id!r} has a result of case {stray!r}, which case_ids does not name; "
            "add it to the set, or leave case_ids empty where the set is not known"
        )
