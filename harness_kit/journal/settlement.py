"""Which open item was settled by which line: by reference, by assignment, by party and exact amount.

An *original* is a link line whose money is still to come; a *settler* is a line of the same account, unit
and currency with the opposite sign, in another voucher. Keys are tried in order, and for each original
only the first one that has candidates counts. Choosing between documents is never guessed: where more than
one choice fits, the original stays `Undecided` with its candidates.

All questions are counts in windows of sorted lines, so nothing walks through all pairs, and the answers
depend on no order of rows. A settler that found its originals under one key is not offered under the next.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property

from harness_kit.journal.rows import Reason, Row
from harness_kit.journal.timeline import Stretches, Timeline, count

MAX_CANDIDATES = 16
"""Settlers at most among which an exact sum is looked for."""

Key = tuple[object, ...]
Span = tuple[date, date]


@dataclass(frozen=True, kw_only=True, slots=True)
class Undecided:
    """An original that has candidates and no single answer."""

    reason: Reason
    timeline: Timeline
    stretches: Stretches
    """Where in `timeline` the candidates stand."""


@dataclass(kw_only=True, slots=True)
class Settlements:
    """Every original that has candidates is in exactly one of the two mappings."""

    settled: dict[str, tuple[tuple[Row, int], ...]] = field(default_factory=dict)
    """Original's row id → settlers and the amount of the original that each covers, in minor units."""
    undecided: dict[str, Undecided] = field(default_factory=dict)


class _Group:
    """Originals of one sign and the settlers opposite to them, under one key, with their windows."""

    def __init__(self, originals: list[Row], settlers: list[Row], window_days: int | None) -> None:
        self._single = (originals[0], settlers[0]) if len(originals) == len(settlers) == 1 else None
        self._rows = (originals, settlers)
        self._window = None if window_days is None else timedelta(days=window_days)

    def only_pair(self) -> tuple[Row, Row] | tuple[()] | None:
        """The one original and its one settler, () where they cannot be a pair, None where there are more.

        Most groups are like this, and need no timelines.
        """
        if self._single is None:
            return None
        original, settler = self._single
        fits = (
            self._window is None
            or timedelta() <= settler.posting_date - original.posting_date <= self._window
        )
        return self._single if fits and original.voucher != settler.voucher else ()

    @cached_property
    def originals(self) -> Timeline:
        return Timeline(self._rows[0])

    @cached_property
    def settlers(self) -> Timeline:
        return Timeline(self._rows[1])

    def candidates(self, original: Row) -> Stretches:
        day = original.posting_date
        span = (date.min, date.max) if self._window is None else (day, day + self._window)
        return self.settlers.between(*span, original.voucher)

    def claimants(self, settler: Row) -> Stretches:
        day = settler.posting_date
        span = (date.min, date.max) if self._window is None else (day - self._window, day)
        return self.originals.between(*span, settler.voucher)


def settle(originals: Sequence[Row], settlers: Sequence[Row], window_days: int) -> Settlements:
    """Find the settlements of `originals` among `settlers`; both are link lines of any amount but 0.

    `window_days` bounds the days from an original to its settler, except under `clearing_ref`.
    """
    found = Settlements()
    kinds: dict[Key, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((originals, settlers)):
        for row in rows:
            of_credit = (row.amount < 0) != bool(side)
            kinds[row.account_code, row.business_unit, row.currency, of_credit][side].append(row)
    for waiting, free in kinds.values():
        taken: set[str] = set()
        _by_reference(waiting, free, lambda row: row.clearing_ref, None, found, taken)
        _by_reference(waiting, free, lambda row: row.assignment, window_days, found, taken)
        _by_party(waiting, free, window_days, found, taken)
    return found


def _groups(
    originals: Iterable[Row], settlers: Iterable[Row], key: Callable[[Row], object], window_days: int | None
) -> list[_Group]:
    """Rows of one account, unit, currency and sign that share `key`, where both sides have some."""
    asking: dict[object, list[Row]] = defaultdict(list)
    for row in originals:
        asking[key(row)].append(row)
    answering: dict[object, list[Row]] = {}
    for row in settlers:
        name = key(row)
        if name in asking:
            answering.setdefault(name, []).append(row)
    return [_Group(asking[name], rows, window_days) for name, rows in answering.items()]


def _by_reference(
    originals: Sequence[Row],
    settlers: Sequence[Row],
    reference: Callable[[Row], str],
    window_days: int | None,
    found: Settlements,
    taken: set[str],
) -> None:
    free = [row for row in settlers if reference(row) and row.row_id not in taken]
    waiting = [row for row in originals if reference(row) and not _is_done(row, found)] if free else []
    for group in _groups(waiting, free, reference, window_days):
        covered: dict[str, Reason | None] = {}
        for original in group.originals.rows:
            stretches = group.candidates(original)
            if not stretches:
                continue
            edges = _partial(group, original, stretches, covered)
            if isinstance(edges, Reason):
                found.undecided[original.row_id] = Undecided(
                    reason=edges, timeline=group.settlers, stretches=stretches
                )
            else:
                found.settled[original.row_id] = edges
        taken.update(row.row_id for row in group.settlers.rows if group.claimants(row))


def _partial(
    group: _Group, original: Row, stretches: Stretches, covered: dict[str, Reason | None]
) -> tuple[tuple[Row, int], ...] | Reason:
    """One original with its settlers, or one settler with its originals; anything else is many to many."""
    open_amount = abs(original.amount)
    first = next(group.settlers.at(stretches))
    if count(stretches) == 1:
        if first.row_id not in covered:
            covered[first.row_id] = _covers(group, first)
        reason = covered[first.row_id]
        return reason or ((first, min(open_amount, abs(first.amount))),)
    total = 0
    for settler in group.settlers.at(stretches):
        # Stops at the first shared settler, so that a crowd under one reference costs one look each.
        if count(group.claimants(settler)) > 1:
            return Reason.MANY_TO_MANY
        total += abs(settler.amount)
    if total > open_amount:
        return Reason.AMBIGUOUS
    return tuple((settler, abs(settler.amount)) for settler in group.settlers.at(stretches))


def _covers(group: _Group, settler: Row) -> Reason | None:
    """Why `settler` does not say how much of it each of its originals gets; None if it does."""
    claimants = group.claimants(settler)
    if count(claimants) == 1:
        return None
    total = 0
    for original in group.originals.at(claimants):
        if count(group.candidates(original)) > 1:
            return Reason.MANY_TO_MANY
        total += abs(original.amount)
    return None if total <= abs(settler.amount) else Reason.AMBIGUOUS


def _by_party(
    originals: Sequence[Row], settlers: Sequence[Row], window_days: int, found: Settlements, taken: set[str]
) -> None:
    waiting = [row for row in originals if row.counterparty and not _is_done(row, found)]
    free = [row for row in settlers if row.counterparty and row.row_id not in taken]
    contested = _exact(waiting, free, window_days, found, taken)
    waiting = [row for row in waiting if not _is_done(row, found)]
    free = [row for row in free if row.row_id not in taken]
    claims: dict[str, int] = defaultdict(int)
    sums: list[tuple[Row, _Group, Stretches, tuple[Row, ...]]] = []
    for group in _groups(waiting, free, lambda row: row.counterparty, window_days):
        for original in group.originals.rows:
            stretches = group.candidates(original)
            if not stretches:
                continue
            candidates = tuple(group.settlers.at(stretches)) if count(stretches) <= MAX_CANDIDATES else ()
            solutions, subset = exact_sums(abs(original.amount), [abs(row.amount) for row in candidates])
            if solutions == 1:
                chosen = tuple(candidates[place] for place in subset)
                sums.append((original, group, stretches, chosen))
                rivals: Iterable[Row] = chosen
            else:
                reason = Reason.AMBIGUOUS if solutions else Reason.UNRESOLVED_PARTIAL
                found.undecided[original.row_id] = Undecided(
                    reason=reason, timeline=group.settlers, stretches=stretches
                )
                rivals = candidates if solutions else ()
            for row in rivals:
                claims[row.row_id] += 1
    for original, group, stretches, chosen in sums:
        if any(claims[row.row_id] > 1 or row.row_id in contested for row in chosen):
            found.undecided[original.row_id] = Undecided(
                reason=Reason.AMBIGUOUS, timeline=group.settlers, stretches=stretches
            )
        else:
            found.settled[original.row_id] = tuple((row, abs(row.amount)) for row in chosen)


def _exact(
    originals: Sequence[Row], settlers: Sequence[Row], window_days: int, found: Settlements, taken: set[str]
) -> set[str]:
    """Match equal amounts that are unique both ways; return the settlers that more than one could use."""
    contested: set[str] = set()
    groups = _groups(originals, settlers, lambda row: (row.counterparty, abs(row.amount)), window_days)
    for group in groups:
        pair = group.only_pair()
        if pair is not None:
            if pair:
                found.settled[pair[0].row_id] = ((pair[1], abs(pair[0].amount)),)
                taken.add(pair[1].row_id)
            continue
        for original in group.originals.rows:
            stretches = group.candidates(original)
            if not stretches:
                continue
            settler = next(group.settlers.at(stretches))
            if count(stretches) == 1 and count(group.claimants(settler)) == 1:
                found.settled[original.row_id] = ((settler, abs(original.amount)),)
                taken.add(settler.row_id)
            else:
                found.undecided[original.row_id] = Undecided(
                    reason=Reason.AMBIGUOUS, timeline=group.settlers, stretches=stretches
                )
        contested.update(row.row_id for row in group.settlers.rows if group.claimants(row))
    return contested


def exact_sums(total: int, parts: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Count the subsets of `parts` (positive) that sum to `total`; give the places of one of them.

    Two halves of at most 8 parts each are summed and met in the middle: 512 sums, not 65,536.

        >>> exact_sums(100, [60, 40, 30])
        (1, (0, 1))
    """
    middle = len(parts) // 2
    right = _subset_sums(parts[middle:], total)
    solutions, subset = 0, 0
    for value, masks in _subset_sums(parts[:middle], total).items():
        others = right.get(total - value, [])
        if others:
            solutions += len(masks) * len(others)
            subset = masks[0] | others[0] << middle
    if total <= 0 or not solutions:
        return 0, ()
    return solutions, tuple(place for place in range(len(parts)) if subset >> place & 1)


def _subset_sums(parts: Sequence[int], limit: int) -> Mapping[int, list[int]]:
    """Sums of the subsets of `parts` up to `limit`, each with the bit masks of its subsets."""
    sums: list[tuple[int, int]] = [(0, 0)]
    for place, part in enumerate(parts):
        sums += [(value + part, mask | 1 << place) for value, mask in sums if value + part <= limit]
    by_value: dict[int, list[int]] = defaultdict(list)
    for value, mask in sums:
        by_value[value].append(mask)
    return by_value


def _is_done(original: Row, found: Settlements) -> bool:
    return original.row_id in found.settled or original.row_id in found.undecided
