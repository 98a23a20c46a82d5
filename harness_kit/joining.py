"""Two runs joined by case id: one kind a case, counted; the rows are made when they are asked for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from harness_kit import canonical
from harness_kit.codes import Bucket, Cause, Standing
from harness_kit.errors import CanonicalError
from harness_kit.pairing import RAN, CaseSummary, Held, Score, Side, first, nothing, state, summary
from harness_kit.results import EvalRun

_JUDGED_BY = (Cause.INPUT, Cause.EXPECTATION, Cause.GRADER)
"""In the order of the hashes in `pairing.state`."""


@dataclass(frozen=True, eq=False)
class Kind:
    """What is said of a case; the cases of which the same is said share one, so that a million are light."""

    bucket: Bucket
    causes: tuple[Cause, ...]
    before: Standing
    after: Standing

    @property
    def changed(self) -> bool:
        """Whether the case itself changed, so that it is counted apart."""
        return bool(self.causes) and self.causes[0] in _JUDGED_BY

    @property
    def ran(self) -> bool:
        """Whether the case ran in both runs."""
        return self.before in RAN and self.after in RAN


@dataclass(frozen=True, kw_only=True)
class Row:
    """One case of two runs."""

    case_id: str
    bucket: Bucket
    causes: tuple[Cause, ...]
    """All that the change may come from; empty where nothing changed."""
    before: CaseSummary | None
    after: CaseSummary | None
    """With the expectation that it was judged by then; None where the run's set does not have the case."""

    @property
    def cause(self) -> Cause | None:
        """The first of the causes."""
        return self.causes[0] if self.causes else None


def bucket_of(before: Standing, after: Standing) -> Bucket:
    """Return the bucket of a case that stands so in two runs."""
    sides = {before, after}
    if not sides & RAN and Standing.NOT_RUN not in sides:
        return Bucket.NOT_SELECTED
    if Standing.ABSENT in sides:
        return Bucket.ADDED if before is Standing.ABSENT else Bucket.REMOVED
    if not sides <= RAN:
        return Bucket.NOT_RUN
    if Standing.MIXED in sides:
        return Bucket.FLAKY
    if sides == {Standing.PASSED}:
        return Bucket.STILL_PASSING
    if Standing.PASSED in sides:
        return Bucket.IMPROVED if after is Standing.PASSED else Bucket.REGRESSED
    return Bucket.ERRORED if after is Standing.ERRORED else Bucket.STILL_FAILING


_kinds: dict[tuple[Any, ...], Kind] = {}


def kind_of(before: Held, after: Held) -> Kind:
    """Return what is said of a case of which the two runs hold this."""
    standing, of_input, of_expectation, of_grader = state(before)
    standing_now, input_now, expectation_now, grader_now = state(after)
    # True: differs; False: is the same; None: a file does not tell.
    inputs = None if of_input is None or input_now is None else of_input != input_now
    graders = None if of_grader is None or grader_now is None else of_grader != grader_now
    if of_expectation is not None and expectation_now is not None:
        expectations = of_expectation != expectation_now
    else:
        # A file without hashes may still hold the expectation itself.
        expectations = _told_apart(before, after) or None
    key = (standing, standing_now, inputs, expectations, graders)
    found = _kinds.get(key)
    if found is None:
        found = _kinds[key] = _new_kind(Standing(standing), Standing(standing_now), key[2:])
    return found


def _told_apart(before: Held, after: Held) -> bool:
    """Whether the expectations themselves are there and differ."""
    if before.outcome not in RAN or after.outcome not in RAN:
        return False
    was, now = first(before).expected, first(after).expected
    return was is not None and now is not None and not same(was, now)


def _new_kind(before: Standing, after: Standing, differs: Sequence[bool | None]) -> Kind:
    causes: tuple[Cause, ...] = ()
    if before in RAN and after in RAN:
        causes = tuple(cause for cause, other in zip(_JUDGED_BY, differs, strict=True) if other)
        if not causes and before is not after:
            causes = (Cause.UNKNOWN if None in differs else Cause.HARNESS,)
    return Kind(bucket_of(before, after), causes, before, after)


def same(one: Any, other: Any) -> bool:
    """Equal in type and value at every level: `True` is not `1`."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    try:
        return canonical.dumps(one) == canonical.dumps(other)
    except CanonicalError:
        return type(one) is type(other) and bool(one == other)


class Rows(Sequence[Row]):
    """One row a case, in the order of the first run's set, then what the second one adds."""

    def __init__(self, ids: Sequence[str], kinds: Sequence[Kind], before: Side, after: Side) -> None:
        self.ids, self.kinds = ids, kinds
        self._before, self._after = before, after

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        case_id, kind = self.ids[at], self.kinds[at]
        return Row(
            case_id=case_id, bucket=kind.bucket, causes=kind.causes,
            before=_shown(self._before, case_id, kind.before), after=_shown(self._after, case_id, kind.after),
        )  # fmt: skip


def _shown(side: Side, case_id: str, standing: Standing) -> CaseSummary | None:
    if case_id in side.held:
        return summary(side.held[case_id])
    return None if standing is Standing.ABSENT else nothing(case_id, standing)


class Join:
    """Two runs, case by case, and how many there are of each kind."""

    def __init__(self, before: EvalRun, after: EvalRun) -> None:
        self.before, self.after = Side(before), Side(after)
        ids, kinds = _joined(self.before, self.after)
        self.rows = Rows(ids, kinds, self.before, self.after)
        self._kinds = Counter(kinds)

    def ids(self, *buckets: Bucket, changed: bool = False) -> tuple[str, ...]:
        """Return the cases of these buckets that are counted there, or, if `changed`, counted apart."""
        wanted = {kind for kind in self._kinds if kind.bucket in buckets and kind.changed is changed}
        return self._where(wanted)

    def _where(self, wanted: set[Kind]) -> tuple[str, ...]:
        if not wanted:
            return ()
        pairs = zip(self.rows.ids, self.rows.kinds, strict=True)
        return tuple(case_id for case_id, kind in pairs if kind in wanted)

    @cached_property
    def counts(self) -> dict[Bucket, int]:
        """Cases by bucket, every bucket named; those whose input, expectation or grader changed are not in
        it, but in `apart`."""
        return self._count(changed=False)

    @cached_property
    def apart(self) -> dict[Cause, dict[Bucket, int]]:
        """Cases that changed themselves, by cause and bucket. With `counts` they add up to the rows."""
        return {cause: self._count(changed=True, cause=cause) for cause in _JUDGED_BY}

    def _count(self, *, changed: bool, cause: Cause | None = None) -> dict[Bucket, int]:
        counted = dict.fromkeys(Bucket, 0)
        for kind, count in self._kinds.items():
            if kind.changed is changed and (cause is None or kind.causes[0] is cause):
                counted[kind.bucket] += count
        return counted

    @cached_property
    def causes(self) -> dict[Cause, int]:
        """How many cases changed by each cause, every cause named; of several causes, the first counts."""
        return {
            cause: sum(count for kind, count in self._kinds.items() if kind.causes[:1] == (cause,))
            for cause in Cause
        }

    @cached_property
    def regressed(self) -> tuple[str, ...]:
        """Unchanged cases that passed before and do not now."""
        return self.ids(Bucket.REGRESSED)

    @cached_property
    def improved(self) -> tuple[str, ...]:
        """Unchanged cases that pass now and did not before."""
        return self.ids(Bucket.IMPROVED)

    @cached_property
    def flaky(self) -> tuple[str, ...]:
        """Unchanged cases whose repeats disagree in one of the runs."""
        return self.ids(Bucket.FLAKY)

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Cases whose input, expectation or grader changed."""
        return self._where({kind for kind in self._kinds if kind.changed})

    @cached_property
    def flaky_now(self) -> tuple[str, ...]:
        """Cases whose repeats disagree in the second run."""
        return self._where({kind for kind in self._kinds if kind.after is Standing.MIXED})

    @cached_property
    def newly_flaky(self) -> tuple[str, ...]:
        """Cases whose repeats disagree in the second run and agreed in the first."""
        stable = RAN - {Standing.MIXED}
        return self._where({kind for kind in self._kinds
                            if kind.after is Standing.MIXED and kind.before in stable})  # fmt: skip

    @cached_property
    def errored_now(self) -> tuple[str, ...]:
        """Cases of which at least one repeat crashed in the second run."""
        wholly = self._where({kind for kind in self._kinds if kind.after is Standing.ERRORED})
        partly = {case.case_id for case in self.after.repeated if case.errored}
        if not partly:
            return wholly
        either = partly.union(wholly)
        return tuple(case_id for case_id in self.rows.ids if case_id in either)

    @cached_property
    def pairs(self) -> int:
        """Unchanged cases that ran in both runs: those that the verdict is about."""
        return sum(
            count for kind, count in self._kinds.items()
            if kind.ran and not kind.changed
        )  # fmt: skip

    @cached_property
    def not_covered(self) -> tuple[str, ...]:
        """Cases that did not run, or not in all repeats, in a run whose set has them."""
        kinds = {kind for kind in self._kinds if kind.bucket is Bucket.NOT_RUN
                 or kind.bucket is Bucket.ADDED and kind.after not in RAN}  # fmt: skip
        torn = self.before.unfinished | self.after.unfinished
        if not torn:
            return self._where(kinds)
        pairs = zip(self.rows.ids, self.rows.kinds, strict=True)
        return tuple(
            case_id for case_id, kind in pairs
            if kind in kinds or case_id in torn and kind.bucket is not Bucket.REMOVED
        )  # fmt: skip

    @property
    def coverage(self) -> float | None:
        """Share of the cases that should have run and did, 0 to 1; None where there is no case."""
        beside = (Bucket.REMOVED, Bucket.NOT_SELECTED)
        due = sum(count for kind, count in self._kinds.items() if kind.bucket not in beside)
        return (due - len(self.not_covered)) / due if due else None

    def score_before(self, tag: str | None = None) -> Score:
        """Return the first run's score, of all its cases or those with a tag."""
        return self.before.score(tag, self._lacking(self.before, self.after))

    def score_after(self, tag: str | None = None) -> Score:
        """Return the second run's score. A case that did not run counts as not passed; see `Score`."""
        return self.after.score(tag, self._lacking(self.after, self.before))

    def _lacking(self, side: Side, other: Side) -> Mapping[str, Held]:
        if len(side.held) == len(self.rows):
            return {}
        lacking = (case_id for case_id in self.ids(Bucket.NOT_RUN) if case_id not in side.held)
        return {case_id: other.held[case_id] for case_id in lacking if case_id in other.held}


def _joined(before: Side, after: Side) -> tuple[list[str], list[Kind]]:
    """Return every case, and beside it its kind."""
    if before.order == after.order:
        ids = after.order = before.order
    else:
        known = before.meant or before.held
        ids = before.order + [case_id for case_id in after.order if case_id not in known]
    # Where a file does not carry the set, what it lacks was removed or not run: the first would be a guess.
    # What only the second run has is new, unless the first was cut off.
    cut_off = Standing.ABSENT if before.run.complete else Standing.NOT_RUN
    left, right = before.aligned(ids, absent=cut_off), after.aligned(ids, absent=Standing.NOT_RUN)
    unchanged = {standing: _new_kind(standing, standing, [False] * 3) for standing in Standing}
    states = zip(map(state, left), map(state, right), left, right, strict=True)
    kinds = [
        unchanged[was[0]] if was == now and was[2] is not None else kind_of(one, other)
        for was, now, one, other in states
    ]
    return ids, kinds
