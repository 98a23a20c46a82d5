"""Small journals for tests: vouchers in one line each, and what became of their rows."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from harness_kit.journal import gate, ledger
from harness_kit.journal.config import Config
from harness_kit.journal.parsing import parse_rows
from harness_kit.journal.rows import Classification, Row
from harness_kit.journal.skills import Skills
from harness_kit.journal.tables import Table, table_from_records

Records = list[dict[str, str]]

CASH, AR, NOTE, AP, OTHER = "10301", "10800", "11000", "25100", "99900"
SALES, PARKING, LC, SALARY = "40401", "41210", "10850", "80100"

SETTINGS: dict[str, Any] = {
    "mode": "extract",
    "cash": [CASH, "10302"],
    "targets": [SALES, PARKING, LC, SALARY],
    "links": [AR, NOTE, AP],
    "rules": {
        "parking": {"accounts": [PARKING], "normal_side": "credit", "window": "next_month"},
        "local_lc": {
            "accounts": [LC],
            "normal_side": "debit",
            "window": "days",
            "min_days": 0,
            "max_days": 60,
        },
    },
}
CONFIG = Config.from_mapping(SETTINGS)


def voucher(name: str, day: str, *lines: tuple[Any, ...], **common: str) -> Records:
    """Lines of row id, account, signed amount and, if need be, other fields."""
    records = []
    for row_id, account, amount, *own in lines:
        side = {"debit": str(amount), "credit": ""} if amount >= 0 else {"debit": "", "credit": str(-amount)}
        defaults = {"counterparty": "C1", "business_unit": "S01"}
        named = {"row_id": row_id, "voucher_id": name, "posting_date": day, "account_code": account}
        records.append({**defaults, **common, **named, **side, **(own[0] if own else {})})
    return records


@dataclass
class Book:
    table: Table
    rows: tuple[Row, ...]
    result: Classification
    report: gate.Report
    classes: dict[str, dict[str, int]]
    """Row id → amount by class, classes of amount 0 left out."""
    reasons: dict[str, set[str]]

    def evidence(self, row_id: str) -> list[tuple[str, ...]]:
        return [item.evidence for item in self.result.allocations if item.row_id == row_id]


def run(*vouchers: Records, config: Config = CONFIG, skills: Skills | None = None, **changes: Any) -> Book:
    if changes:
        config = Config.from_mapping({**SETTINGS, **changes})
    table = table_from_records([record for records in vouchers for record in records])
    rows = parse_rows(table, units=set(config.units))
    result = ledger.classify(rows, config, skills)
    totals: dict[str, Counter[str]] = {}
    reasons: dict[str, set[str]] = {}
    for item in result.allocations:
        totals.setdefault(item.row_id, Counter())[str(item.row_class)] += item.amount
        reasons.setdefault(item.row_id, set()).add(str(item.reason))
    classes = {
        row_id: {name: part for name, part in parts.items() if part} for row_id, parts in totals.items()
    }
    report = gate.check(table, config, result)
    if skills is None:
        assert report.passed, report
        assert report.cash_not_reused
    return Book(table, rows, result, report, classes, reasons)
