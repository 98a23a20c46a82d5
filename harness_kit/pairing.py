"""One run as one side of a comparison: its cases by id, each with all its repeats as one standing.

What joins is the case's id, never a position. A case run once stays the `CaseResult` that it was, since a
run may hold a million; one with repeats becomes a `CaseSummary`. Both have the four fields of `state`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from math import fsum
from operator import attrgetter
from types import MappingProxyType
from typing import Any, cast

from harness_kit.codes import Outcome, Standing
from harness_kit.errors import InputError
from harness_kit.results import CaseResult, EvalRun

state = attrgetter("outcome", "input_hash", "expectation_hash", "grader_hash")
"""How a case stands and what it was judged by."""

_id = attrgetter("case_id")

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
        return fsum(scores) / len(scores) if scores else None

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
    return held if isinstance(held, CaseSummary) else _once(held)


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
        self.meant = _meant(run)
        """Every case that the run names as meant; empty where it names none."""
        self.held = _by_case(run)
        self.set_known = run.knows_its_set and bool(run.case_ids)
        self.order = list(self.meant or self.held)
        """Every case of the run, in the order of its set, or else of its results."""
        self._in_order = list(map(self.held.get, self.order))
        if sum(map(bool, self._in_order)) < len(self.held):
            stray = next(case_id for case_id in self.held if case_id not in self.meant)
            raise InputError(
                f"run {run.run_id!r} has a result of case {stray!r}, which case_ids does not name; "
                "add it to the set, or leave case_ids empty where the set is not known"
            )

    def aligned(self, ids: Sequence[str], *, absent: Standing) -> list[Held]:
        """Return what the run holds of these cases, in their order; of one without a result, how it stands:
        `absent` where no set tells."""
        found = self._in_order if ids is self.order else list(map(self.held.get, ids))
        # Not `None in found`, which asks every result whether it equals None.
        if all(found):
            return cast(list[Held], found)
        unknown = nothing("", Standing.ABSENT if self.set_known else absent)
        not_run = nothing("", Standing.NOT_RUN)
        return [
            held or (not_run if case_id in self.meant else unknown)
            for case_id, held in zip(ids, found, strict=True)
        ]

    @cached_property
    def repeated(self) -> tuple[CaseSummary, ...]:
        """The cases of which there are several results."""
        if len(self.held) == len(self.run.results):
            return ()
        return tuple(held for held in self.held.values() if isinstance(held, CaseSummary))

    @cached_property
    def unfinished(self) -> frozenset[str]:
        """Cases that ran, but not all their repeats."""
        return frozenset(case.case_id for case in self.repeated if case.missing and case.outcome in RAN)

    @cached_property
    def must_pass(self) -> tuple[str, ...]:
        """Cases that are marked as ones that must pass."""
        marked = compress(map(_id, self.run.results), map(attrgetter("must_pass"), self.run.results))
        return tuple(dict.fromkeys(marked))

    def score(self, tag: str | None = None, elsewhere: Mapping[str, Held] = MappingProxyType({})) -> Score:
        """Return the run's score, over all cases or those with a tag.

        `elsewhere` holds, by id, results that another run has: what a case weighs that did not run here, and
        which tags it has. Of one that neither run knows, the weight counts as one and no tag is known.
        """
        passed, missing, selected = [], [], []
        once = [one for one in self.run.results if tag is None or tag in one.tags]
        if self.repeated:
            several = {case.case_id for case in self.repeated}
            once = [one for one in once if one.case_id not in several]
            for case in self.repeated:
                repeats, weight = case.ran + case.missing, case.results[0].weight
                if repeats and (tag is None or tag in case.results[0].tags):
                    selected.append(weight)
                    passed.append(weight * case.passed / repeats)
                    missing.append(weight * case.missing / repeats)
        # Most cases weigh the same: counted in C, and summed so that their order is no matter.
        counted = Counter(zip(map(attrgetter("outcome"), once), map(attrgetter("weight"), once), strict=True))
        for (outcome, weight), count in counted.items():
            if outcome != Outcome.NOT_SELECTED:
                selected.append(weight * count)
                passed.append(weight * count if outcome == Outcome.PASSED else 0.0)
                missing.append(weight * count if outcome == Outcome.NOT_RUN else 0.0)
        if len(self.held) < len(self.meant) or elsewhere:
            for case_id in self.meant.keys() | elsewhere.keys():
                known = first(elsewhere[case_id]) if case_id in elsewhere else None
                if case_id not in self.held and (tag is None or known is not None and tag in known.tags):
                    selected.append(1.0 if known is None else known.weight)
                    missing.append(selected[-1])
        return Score(passed=fsum(passed), missing=fsum(missing), selected=fsum(selected))


def first(held: Held) -> CaseResult:
    """Return the first result of a case."""
    return held if isinstance(held, CaseResult) else held.results[0]


def nothing(case_id: str, standing: Standing) -> CaseSummary:
    """Return what is held of a case without a result."""
    return CaseSummary(case_id=case_id, outcome=standing, results=(), passed=0, errored=0, missing=1)


def _meant(run: EvalRun) -> dict[str, None]:
    meant = dict.fromkeys(run.case_ids)
    _check_ids(run, meant, "set")
    if len(meant) < len(run.case_ids):
        raise InputError(f"run {run.run_id!r} names a case twice in case_ids; name each case once")
    return meant


def _by_case(run: EvalRun) -> dict[str, Held]:
    results = run.results
    held: dict[str, Held] = dict(zip(map(_id, results), results, strict=True))
    _check_ids(run, held, "result")
    _check_values(run)
    if len(held) == len(results):
        return held
    repeats: dict[str, list[CaseResult]] = {}
    for result in results:
        repeats.setdefault(result.case_id, []).append(result)
    for case_id, several in repeats.items():
        if len(several) > 1:
            held[case_id] = _several(run, case_id, tuple(sorted(several, key=attrgetter("repeat"))))
    return held


def _once(result: CaseResult) -> CaseSummary:
    return CaseSummary(
        case_id=result.case_id, outcome=Standing(result.outcome), results=(result,),
        passed=int(result.outcome == Outcome.PASSED), errored=int(result.outcome == Outcome.ERRORED),
        missing=int(result.outcome == Outcome.NOT_RUN), input_hash=result.input_hash,
        expectation_hash=result.expectation_hash, grader_hash=result.grader_hash,
    )  # fmt: skip


def _several(run: EvalRun, case_id: str, results: tuple[CaseResult, ...]) -> CaseSummary:
    hashes = {state(result)[1:] for result in results}
    if len({result.repeat for result in results}) < len(results):
        raise InputError(
            f"run {run.run_id!r} has two results of case {case_id!r} with one repeat number; give each "
            "case an id of its own, or number its repeats 1, 2, …"
        )
    if len(hashes) > 1:
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
