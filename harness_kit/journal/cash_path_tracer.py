"""Skill: follow each target row to cash, in its own voucher or over settlements of link lines.

Direct: the net of a voucher's cash lines goes to its non-cash lines of the opposite sign, in proportion.
Indirect: target → link line of opposite sign in its voucher → the line that settled it → that line's own
share of cash, again up to `max_hops`. A link line is settled once, and what came of it is shared among all
lines that it stands against: settling it anew for each target would let the first one eat the receipt.

What is passed along is a list of portions that make up a line's |amount|: cash, undecided, or open. A
portion never comes back to a link line that it has passed, so a circle ends open.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import accumulate, islice
from typing import NamedTuple

from harness_kit.journal.config import Config
from harness_kit.journal.money import apportion
from harness_kit.journal.rows import Allocation, Reason, Row, RowClass, Stage, Trace, Unmatched
from harness_kit.journal.settlement import MAX_CANDIDATES, Settlements, Undecided, settle

MAX_PORTIONS = 64
"""Portions kept apart in one voucher; beyond them those of one kind go under the first one's path."""

VoucherKey = tuple[date, str, str]
"""Posting date, voucher id, currency."""


class Portion(NamedTuple):
    """A part of one line's |amount|."""

    amount: int
    row_class: RowClass | None = None
    """CASH, REVIEW, or None for open."""
    reason: Reason | None = None
    path: tuple[str, ...] = ()
    """Row ids after the line itself."""


_NOTHING: dict[str, list[Portion]] = {}


def trace(rows: Iterable[Row], config: Config) -> Trace:
    """Allocate what of every target row became cash, or waits for a person; hand on the rest."""
    tracer = _Tracer(rows, config)
    allocations: list[Allocation] = []
    unmatched: list[Unmatched] = []
    for row in tracer.targets:
        left = abs(row.amount)
        for portion in tracer.follow(row):
            if portion.row_class is None or portion.reason is None:
                continue
            left -= portion.amount
            allocations.append(Allocation(
                row_id=row.row_id, row_class=portion.row_class, amount=portion.amount,
                stage=Stage.CASH_PATH_TRACER, reason=portion.reason, evidence=(row.row_id, *portion.path),
            ))  # fmt: skip
        if left or not row.amount:
            unmatched.append(Unmatched(row=row, amount=left))
    return Trace(allocations=tuple(allocations), unmatched=tuple(unmatched))


def _key(row: Row) -> VoucherKey:
    return (row.posting_date, row.voucher_id, row.currency)


class _Tracer:
    def __init__(self, rows: Iterable[Row], config: Config) -> None:
        ordered = sorted(rows, key=lambda row: row.row_id)
        cash, targets, self._links = (
            frozenset(config.cash),
            frozenset(config.targets),
            frozenset(config.links),
        )
        self._hops = config.max_hops
        self.targets: list[Row] = []
        links: list[Row] = []
        grouped: dict[VoucherKey, list[Row]] = defaultdict(list)
        key, lines = None, list[Row]()
        for row in ordered:
            # Lines of a voucher mostly stand together; a look-up for each of them would be most of this loop.
            if key != (key := _key(row)):
                lines = grouped[key]
            lines.append(row)
            if row.account_code in targets:
                self.targets.append(row)
            elif row.account_code in self._links and row.amount:
                links.append(row)
        self._against: dict[VoucherKey, list[Row]] = {}
        self._cash: dict[str, tuple[int, str]] = {}
        for key, lines in grouped.items():
            self._against[key] = [row for row in lines if row.amount and row.account_code not in cash]
            if len(self._against[key]) < len(lines):
                self._cash.update(_direct(lines, cash))
        # What became cash in its own voucher waits for no settlement.
        originals = [row for row in links if self._direct(row) < abs(row.amount)]
        self._settlements: Settlements = settle(originals, links, config.window_days)
        self._users: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for original, edges in sorted(self._settlements.settled.items()):
            for settler, amount in edges:
                self._users[settler.row_id].append((original, amount))
        self._shared: dict[tuple[VoucherKey, bool, int], dict[str, list[Portion]]] = {}
        self._lent: dict[tuple[str, int], dict[str, list[Portion]]] = {}
        self._bringing: dict[tuple[int, int], list[int]] = {}

    def follow(self, row: Row) -> list[Portion]:
        """The portions of a non-cash line that are cash or undecided, direct ones first."""
        return self._reached(row, self._hops)

    def _direct(self, row: Row) -> int:
        return self._cash[row.row_id][0] if row.row_id in self._cash else 0

    def _reached(self, row: Row, hops: int) -> list[Portion]:
        portions = []
        if row.row_id in self._cash:
            amount, cash_line = self._cash[row.row_id]
            portions.append(Portion(amount, RowClass.CASH, Reason.DIRECT, (cash_line,)))
        if hops:
            portions += self._shares(_key(row), row.amount > 0, hops).get(row.row_id, [])
        return portions

    def _shares(self, key: VoucherKey, positive: bool, hops: int) -> dict[str, list[Portion]]:
        """What the voucher's link lines bring to each of its non-cash lines of the given sign."""
        memo = (key, positive, hops)
        if memo not in self._shared:
            against = self._against[key]
            links = [
                row for row in against if (row.amount < 0) == positive and row.account_code in self._links
            ]
            lines = [row for row in against if (row.amount > 0) == positive]
            self._shared[memo] = self._share_out(links, lines, hops) if links else _NOTHING
        return self._shared[memo]

    def _share_out(self, links: Sequence[Row], lines: Sequence[Row], hops: int) -> dict[str, list[Portion]]:
        room = [abs(row.amount) - self._direct(row) for row in lines]
        facing = [abs(row.amount) - self._direct(row) for row in links]
        # The smaller of the two only in a voucher that does not balance.
        covers = apportion(min(sum(facing), sum(room)), facing)
        brought: list[Portion] = []
        for link, cover in zip(links, covers, strict=True):
            if cover:
                brought += _deal(self._outcome(link, hops), [cover, abs(link.amount) - cover])[0]
        dealt = _deal(_merged(brought), room)
        return {
            row.row_id: [portion for portion in portions if portion.row_class]
            for row, portions in zip(lines, dealt, strict=True)
        }

    def _outcome(self, link: Row, hops: int) -> list[Portion]:
        """What came of a link line, in portions that make up its |amount|; `hops` is 1 or more."""
        whole = abs(link.amount)
        undecided = self._settlements.undecided.get(link.row_id)
        if undecided is not None:
            if not self._may_bring(undecided, hops):
                return [Portion(whole)]
            candidates = undecided.timeline.at(undecided.stretches)
            named = (row.row_id for row in islice(candidates, MAX_CANDIDATES))
            return [Portion(whole, RowClass.REVIEW, undecided.reason, (link.row_id, *named))]
        portions = []
        for settler, _ in self._settlements.settled.get(link.row_id, ()):
            for portion in self._lend(settler, hops - 1)[link.row_id]:
                if portion.row_class is None or link.row_id in portion.path:
                    portions.append(Portion(portion.amount))
                else:
                    is_cash = portion.row_class is RowClass.CASH
                    portions.append(portion._replace(
                        reason=Reason.INDIRECT if is_cash else portion.reason,
                        path=(link.row_id, settler.row_id, *portion.path),
                    ))  # fmt: skip
        return _whole(portions, whole)

    def _lend(self, settler: Row, hops: int) -> dict[str, list[Portion]]:
        """The settler's own portions, dealt among the originals that it settled."""
        memo = (settler.row_id, hops)
        if memo not in self._lent:
            users = self._users[settler.row_id]
            amounts = [amount for _, amount in users]
            room = [*amounts, abs(settler.amount) - sum(amounts)]
            dealt = _deal(_whole(self._reached(settler, hops), abs(settler.amount)), room)
            self._lent[memo] = {original: dealt[place] for place, (original, _) in enumerate(users)}
        return self._lent[memo]

    def _may_bring(self, undecided: Undecided, hops: int) -> bool:
        """Whether any candidate leads to cash; where none does, every choice between them means no cash."""
        memo = (id(undecided.timeline), hops)
        if memo not in self._bringing:
            brings = (bool(self._reached(row, hops - 1)) for row in undecided.timeline.rows)
            self._bringing[memo] = [0, *accumulate(brings)]
        before = self._bringing[memo]
        return any(before[end] > before[start] for start, end in undecided.stretches)


def _direct(lines: Sequence[Row], cash: frozenset[str]) -> dict[str, tuple[int, str]]:
    """Row id → its share of the voucher's cash, and the first cash line on the side of the net."""
    moved = [row for row in lines if row.account_code in cash]
    net = sum(row.amount for row in moved)
    # Lines on the net's own side, fees for instance, never became cash.
    became = [row for row in lines if row.amount * net < 0 and row.account_code not in cash]
    amounts = [abs(row.amount) for row in became]
    parts = apportion(min(abs(net), sum(amounts)), amounts)
    first = next((row.row_id for row in moved if row.amount * net > 0), "")
    return {row.row_id: (part, first) for row, part in zip(became, parts, strict=True) if part}


def _whole(portions: Iterable[Portion], amount: int) -> list[Portion]:
    """Gather what is open into one last portion, so that all make up `amount`."""
    told = [portion for portion in portions if portion.row_class]
    left = amount - sum(portion.amount for portion in told)
    return [*told, Portion(left)] if left else told


def _merged(portions: list[Portion]) -> list[Portion]:
    whole = _whole(portions, sum(portion.amount for portion in portions))
    if len(whole) <= MAX_PORTIONS:
        return whole
    # A batch voucher of a thousand links and lines would otherwise be told in a million paths.
    kinds: dict[tuple[RowClass | None, Reason | None], Portion] = {}
    for portion in whole:
        kind = (portion.row_class, portion.reason)
        first = kinds.get(kind)
        kinds[kind] = portion if first is None else first._replace(amount=first.amount + portion.amount)
    return list(kinds.values())


def _deal(portions: Iterable[Portion], room: Sequence[int]) -> list[list[Portion]]:
    """Deal `portions` among receivers in proportion to the room that each has left; none gets more."""
    left = list(room)
    dealt: list[list[Portion]] = [[] for _ in left]
    for portion in portions:
        for place, part in enumerate(apportion(portion.amount, left)):
            if part:
                left[place] -= part
                dealt[place].append(portion._replace(amount=part))
    return dealt
