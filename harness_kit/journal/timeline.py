"""Lines on a line of days: who stands in a window, counted without walking through it.

Both skills ask the same question of many lines that share a key: which of you were posted between two days,
in another voucher than mine? All lines of a voucher share its day, so they stand side by side, and the
answer is at most two stretches of a sorted list.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from datetime import date

from harness_kit.journal.rows import Row, VoucherKey

Stretches = tuple[tuple[int, int], ...]
"""Half-open ranges of places, from the earlier to the later."""


class Timeline:
    """Rows in order of day, voucher and row id."""

    __slots__ = ("_keys", "rows")

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        if len(self.rows) > 1:
            self.rows.sort(key=lambda row: (row.posting_date, row.voucher_id, row.row_id))
        self._keys = [row.voucher for row in self.rows]

    def between(self, first: date, last: date, other_than: VoucherKey) -> Stretches:
        """Places of the rows posted from `first` to `last`, both included, outside `other_than`."""
        low = bisect_left(self._keys, first, key=_day)
        high = bisect_right(self._keys, last, lo=low, key=_day)
        own_low = bisect_left(self._keys, other_than, lo=low, hi=high)
        own_high = bisect_right(self._keys, other_than, lo=own_low, hi=high)
        return tuple((start, end) for start, end in ((low, own_low), (own_high, high)) if start < end)

    def at(self, stretches: Stretches) -> Iterator[Row]:
        """The rows at `stretches`, in order."""
        for start, end in stretches:
            for place in range(start, end):
                yield self.rows[place]


def count(stretches: Stretches) -> int:
    return sum(end - start for start, end in stretches)


def _day(key: tuple[date, str]) -> date:
    return key[0]
