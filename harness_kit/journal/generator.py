"""Made-up journals of any size whose truth is known: each story writes its vouchers and what becomes of them.

    made = generate(Random(7), rows=1_000)
    write_csv(made.records, "journal.csv")

Only the passed generator draws; the same seed gives the same journal. Every story has a party of its own,
but for one crowd of equal items that all fit each other, which a search by pairs would choke on.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from harness_kit.errors import InputError
from harness_kit.journal.rows import RowClass

CONFIG: dict[str, Any] = {
    "mode": "full",
    "cash": ["10301"],
    "targets": ["10850", "40401", "41210", "80100"],
    "links": ["10800", "11000", "25100"],
    "rules": {
        "local_lc": {
            "accounts": ["10850"],
            "normal_side": "debit",
            "window": "days",
            "min_days": 0,
            "max_days": 60,
        },
        "parking": {"accounts": ["41210"], "normal_side": "credit", "window": "next_month"},
    },
}
"""The config that the truth goes with: 10800 receivables, 11000 notes, 25100 payables."""

HEADERS = (
    "행번호", "전표번호", "전표일자", "계정코드", "차변금액", "대변금액", "거래처코드", "사업장코드", "반제번호", "지정", "적요"
)  # fmt: skip

OTHER = "99900"
"""An account that is neither cash, target nor link."""

CROWD = 24
"""Rows that the crowd grows by at a time."""

Truth = dict[RowClass, int]
Line = tuple[str, int, Truth | None]
"""Account, signed amount and, for a target, what becomes of it."""


@dataclass(kw_only=True)
class Made:
    """A journal and what becomes of it."""

    records: list[dict[str, str]] = field(default_factory=list)
    """One mapping from `HEADERS` to text for each row, numbered in order of day, as a system would."""
    truth: dict[str, Truth] = field(default_factory=dict)
    """Row id of each target → amount by class, in won; classes of amount 0 are left out."""


def generate(rng: Random, *, rows: int, crowd: float = 0.1) -> Made:
    """Make at least `rows` rows (fewer than 10 more), a share `crowd` of them equal items."""
    if rows < 1 or not 0 <= crowd <= 1:
        raise InputError(f"rows={rows!r}, crowd={crowd!r}; expected rows from 1 and a share from 0 to 1")
    writer = _Writer(rng)
    for _ in range(int(rows * crowd) // CROWD):
        writer.crowd()
    while writer.rows < rows:
        writer.party = f"P{writer.rows:07d}"
        rng.choice(STORIES)(writer)
    return writer.made()


def write_csv(records: Sequence[Mapping[str, str]], path: str | Path) -> None:
    """Write `records` as UTF-8 text with the Korean headers."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADERS)
        writer.writeheader()
        writer.writerows(records)


class _Writer:
    def __init__(self, rng: Random) -> None:
        self.rng, self.party, self.rows = rng, "", 0
        self._vouchers: list[tuple[date, str, str, str, tuple[Line, ...]]] = []

    def day(self) -> date:
        return date(2025, 1, 1) + timedelta(days=self.rng.randrange(300))

    def amount(self) -> int:
        return self.rng.randrange(1, 10_000) * 100

    def voucher(self, day: date, *lines: Line, unit: str = "S01", ref: str = "") -> None:
        self._vouchers.append((day, self.party, unit, ref, lines))
        self.rows += len(lines)

    def crowd(self) -> None:
        """Two of everything, so that none of them has only one candidate."""
        early, late, review = date(2025, 3, 1), date(2025, 4, 1), {RowClass.REVIEW: 500}
        for _ in range(2):
            for self.party, ref in (("CROWD", ""), ("CROWD2", "CROWD2")):
                self.voucher(early, ("10800", 500, None), ("40401", -500, review), ref=ref)
                self.voucher(late, ("10301", 500, None), ("10800", -500, None), ref=ref)
            self.voucher(early, ("41210", -500, review), (OTHER, 500, None))
            self.voucher(late, ("41210", 500, review), (OTHER, -500, None))

    def made(self) -> Made:
        made = Made()
        ordered = sorted(self._vouchers, key=lambda voucher: voucher[0])
        for number, (day, party, unit, ref, lines) in enumerate(ordered, 1):
            for account, amount, truth in lines:
                row_id = f"R{len(made.records):07d}"
                if truth is not None:
                    made.truth[row_id] = {name: part for name, part in truth.items() if part}
                cells = (
                    row_id, f"V{number:06d}", day.isoformat(), account,
                    str(max(amount, 0)), str(max(-amount, 0)),
                    party, unit, ref if account in CONFIG["links"] else "", "", "",
                )  # fmt: skip
                made.records.append(dict(zip(HEADERS, cells, strict=True)))
        return made


def _direct(to: _Writer) -> None:
    amount, fee = to.amount(), to.rng.randrange(50)
    truth = {RowClass.CASH: amount - fee, RowClass.PURE_NONCASH: fee}
    to.voucher(to.day(), ("10301", amount - fee, None), (OTHER, fee, None), ("40401", -amount, truth))


def _invoice_and_receipt(to: _Writer) -> None:
    day, amount = to.day(), to.amount()
    to.voucher(day, ("10800", amount, None), ("40401", -amount, {RowClass.CASH: amount}))
    late = day + timedelta(days=to.rng.randrange(400))
    to.voucher(late, ("10301", amount, None), ("10800", -amount, None))


def _paid_in_part(to: _Writer) -> None:
    day, amount, part = to.day(), to.amount(), to.rng.randrange(1, 100)
    truth = {RowClass.CASH: part, RowClass.PURE_NONCASH: amount - part}
    to.voucher(day, ("10800", amount, None), ("40401", -amount, truth), ref=to.party)
    to.voucher(day, ("10301", part, None), ("10800", -part, None), ref=to.party)


def _over_a_note(to: _Writer) -> None:
    day, amount = to.day(), to.amount()
    to.voucher(day, ("10800", amount, None), ("40401", -amount, {RowClass.CASH: amount}))
    to.voucher(day + timedelta(days=30), ("11000", amount, None), ("10800", -amount, None))
    to.voucher(day + timedelta(days=90), ("10301", amount, None), ("11000", -amount, None))


def _offset(to: _Writer) -> None:
    day, amount = to.day(), to.amount()
    to.voucher(day, ("10800", amount, None), ("40401", -amount, {RowClass.PURE_NONCASH: amount}))
    to.voucher(day + timedelta(days=9), ("25100", amount, None), ("10800", -amount, None))


def _unclear_receipt(to: _Writer) -> None:
    day, amount = to.day(), to.amount()
    to.voucher(day, ("10800", amount, None), ("40401", -amount, {RowClass.REVIEW: amount}))
    to.voucher(day + timedelta(days=5), ("10301", amount + 1, None), ("10800", -amount - 1, None))


def _parking(to: _Writer) -> None:
    amount, month = to.amount(), to.rng.randrange(1, 11)
    unit = to.rng.choice(["S01", "S02", ""])
    truth = {RowClass.EXTINGUISHED if unit else RowClass.REVIEW: amount}
    to.voucher(date(2025, month, 28), ("41210", -amount, truth), (OTHER, amount, None), unit=unit)
    to.voucher(date(2025, month + 1, 28), ("41210", amount, truth), (OTHER, -amount, None), unit=unit)


def _letter_of_credit(to: _Writer) -> None:
    day, amount, days = to.day(), to.amount(), to.rng.randrange(55, 66)
    truth = {RowClass.EXTINGUISHED if days <= 60 else RowClass.PURE_NONCASH: amount}
    to.voucher(day, ("10850", amount, truth), (OTHER, -amount, None))
    to.voucher(day + timedelta(days=days), ("10850", -amount, truth), (OTHER, amount, None))


def _accrual(to: _Writer) -> None:
    amount = to.amount()
    to.voucher(to.day(), ("80100", amount, {RowClass.PURE_NONCASH: amount}), (OTHER, -amount, None))


STORIES: tuple[Callable[[_Writer], None], ...] = (
    _direct, _invoice_and_receipt, _paid_in_part, _over_a_note, _offset, _unclear_receipt, _parking,
    _letter_of_credit, _accrual,
)  # fmt: skip
