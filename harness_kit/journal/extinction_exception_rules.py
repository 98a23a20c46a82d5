"""Skill: which unmatched rows ended without cash because a known exception reversed them.

An original on its rule's normal side and one exact reversal in the rule's window extinguish each other, if
nothing else could be meant. A row whose business unit is blank is never extinguished: it goes to a person.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from itertools import chain, islice

from harness_kit.journal.config import Config, Rule
from harness_kit.journal.rows import Allocation, Reason, Row, RowClass, Stage, Unmatched
from harness_kit.journal.timeline import Timeline

Key = tuple[object, ...]


def judge(unmatched: Iterable[Unmatched], config: Config) -> tuple[Allocation, ...]:
    """Allocate the whole of every unmatched amount: extinguished, review or pure non-cash."""
    handed = sorted(unmatched, key=lambda item: item.row.row_id)
    rule_of = config.rule_of
    ruled = [item.row for item in handed if _may_pair(item) and item.row.account_code in rule_of]
    pairs = _Pairs(ruled, rule_of)
    return tuple(_judge(item, rule_of.get(item.row.account_code), pairs) for item in handed)


def _may_pair(item: Unmatched) -> bool:
    """Only a row that is wholly unmatched, and whose party is known, can be half of a pair."""
    return item.amount == abs(item.row.amount) > 0 and bool(item.row.counterparty)


def _judge(item: Unmatched, rule: Rule | None, pairs: "_Pairs") -> Allocation:
    row = item.row
    partners = pairs.partners(row) if rule and _may_pair(item) else []
    if rule is None:
        verdict = RowClass.PURE_NONCASH, Reason.NO_RULE
    elif len(partners) > 1 or (partners and len(pairs.partners(partners[0])) > 1):
        verdict = RowClass.REVIEW, Reason.AMBIGUOUS
    elif partners:
        verdict = RowClass.EXTINGUISHED, Reason.REVERSED
    elif item.amount and not row.business_unit:
        verdict = RowClass.REVIEW, Reason.MISSING_UNIT
    elif _may_pair(item) and (partners := pairs.unnamed(row)):
        verdict = RowClass.REVIEW, Reason.PARTNER_UNIT_MISSING
    else:
        verdict = RowClass.PURE_NONCASH, Reason.RULE_NOT_MET
    return Allocation(
        row_id=row.row_id,
        row_class=verdict[0],
        amount=item.amount,
        stage=Stage.EXCEPTION_RULES,
        reason=verdict[1],
        evidence=(row.row_id, *(partner.row_id for partner in partners)),
        rule=rule.name if rule else "",
    )


class _Pairs:
    """The rows under rules by all that a pair must share, originals and reversals apart."""

    def __init__(self, rows: Iterable[Row], rule_of: dict[str, Rule]) -> None:
        self._rule_of = rule_of
        sides: dict[Key, list[Row]] = defaultdict(list)
        for row in rows:
            sides[self._key(row, row.business_unit, self._is_original(row))].append(row)
        self._sides = {key: _Side(side) for key, side in sides.items()}

    def partners(self, row: Row) -> list[Row]:
        """Up to two rows that could be the other half of `row`, in its own business unit."""
        return self._search(row, row.business_unit) if row.business_unit else []

    def unnamed(self, row: Row) -> list[Row]:
        """Up to two rows that would be the other half of `row`, if their blank business unit were its own."""
        return self._search(row, "")

    def _search(self, row: Row, unit: str) -> list[Row]:
        original = self._is_original(row)
        side = self._sides.get(self._key(row, unit, not original))
        if side is None:
            return []
        rule = self._rule_of[row.account_code]
        first, last = rule.after(row.posting_date) if original else rule.before(row.posting_date)
        return side.search(row, first, last)

    def _is_original(self, row: Row) -> bool:
        return self._rule_of[row.account_code].is_original(row.amount)

    @staticmethod
    def _key(row: Row, unit: str, original: bool) -> Key:
        return (row.account_code, row.currency, row.counterparty, abs(row.amount), unit, original)


class _Side:
    """Rows that differ in day, voucher and reference alone."""

    def __init__(self, rows: list[Row]) -> None:
        self._silent = Timeline(row for row in rows if not row.reversal_of)
        self._naming: dict[str, list[Row]] = defaultdict(list)
        self._named: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            for name in dict.fromkeys((row.row_id, row.voucher_id)):
                self._named[name].append(row)
            if row.reversal_of:
                self._naming[row.reversal_of].append(row)

    def search(self, row: Row, first: date, last: date) -> list[Row]:
        """Up to two rows posted from `first` to `last` in another voucher, where no reference disagrees."""
        if row.reversal_of:
            found = (other for other in self._named.get(row.reversal_of, ()) if _agrees(other, row))
            fitting = (other for other in found if _fits(other, row, first, last))
            return list(islice(fitting, 2))
        silent = self._silent.at(self._silent.between(first, last, row.voucher))
        names = dict.fromkeys((row.row_id, row.voucher_id))
        naming = chain.from_iterable(self._naming.get(name, ()) for name in names)
        return list(islice(chain(silent, (other for other in naming if _fits(other, row, first, last))), 2))


def _agrees(row: Row, other: Row) -> bool:
    return not row.reversal_of or row.reversal_of in (other.row_id, other.voucher_id)


def _fits(row: Row, other: Row, first: date, last: date) -> bool:
    return first <= row.posting_date <= last and row.voucher != other.voucher
