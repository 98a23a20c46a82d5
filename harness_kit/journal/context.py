"""What must hold of input and config before anything runs; each finding says what to do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness_kit.journal.columns import personal
from harness_kit.journal.config import Config, Mode
from harness_kit.journal.rows import Row
from harness_kit.journal.tables import Table

_SHOWN = 5


class FindingCode(StrEnum):
    NO_ROWS = "no_rows"
    CONFIG = "config"
    """No cash list, no targets, or an account in two roles."""
    DUPLICATE_ROW_ID = "duplicate_row_id"
    UNBALANCED_VOUCHER = "unbalanced_voucher"
    PERSONAL_DATA = "personal_data"
    UNKNOWN_UNIT = "unknown_unit"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is not as it must be."""

    code: FindingCode
    blocks: bool
    """Whether nothing may run; otherwise it is a warning."""
    message: str
    row_ids: tuple[str, ...] = ()
    """Every row concerned, sorted."""


def examine(table: Table, rows: Sequence[Row], config: Config) -> tuple[Finding, ...]:
    """Return what is wrong with the table, its rows and the config; empty where all is well."""
    findings = [
        Finding(code=FindingCode.CONFIG, blocks=True, message=f"config: {fault}") for fault in config.faults()
    ]
    if not rows:
        findings.append(Finding(
            code=FindingCode.NO_ROWS, blocks=True,
            message="the journal has no rows; choose a period that has entries and export it again",
        ))  # fmt: skip
    if names := personal(table.headers):
        findings.append(Finding(
            code=FindingCode.PERSONAL_DATA, blocks=True,
            message=f"columns with personal data: {', '.join(names)}; leave them out of the export",
        ))  # fmt: skip
    findings += _duplicates(rows)
    findings += _unbalanced(rows, config)
    findings += _strangers(rows, config)
    return tuple(findings)


def duplicate_ids(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the row ids that stand more than once, sorted."""
    ids = [row.row_id for row in rows]
    if len(set(ids)) == len(ids):
        return ()
    return tuple(sorted(row_id for row_id, times in Counter(ids).items() if times > 1))


def _duplicates(rows: Sequence[Row]) -> list[Finding]:
    twice = duplicate_ids(rows)
    if not twice:
        return []
    message = f"row ids stand twice: {_some(twice)}; remove the repeated lines or number them"
    return [Finding(code=FindingCode.DUPLICATE_ROW_ID, blocks=True, message=message, row_ids=twice)]


def _unbalanced(rows: Sequence[Row], config: Config) -> list[Finding]:
    sums: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        sums[(*row.voucher, row.currency)] += row.amount
    open_keys = {key for key, total in sums.items() if total}
    if not open_keys:
        return []
    shown = _some(
        [f"{key[1]} of {key[0]} is off by {sums[key]} {key[2]}" for key in sorted(open_keys, key=str)]
    )
    blocks = config.mode is Mode.FULL
    remedy = (
        "; add the missing lines, or set mode = 'extract' if they were left out on purpose" if blocks else ""
    )
    ids = sorted(row.row_id for row in rows if (*row.voucher, row.currency) in open_keys)
    return [Finding(
        code=FindingCode.UNBALANCED_VOUCHER, blocks=blocks, row_ids=tuple(ids),
        message=f"vouchers do not balance: {shown}{remedy}",
    )]  # fmt: skip


def _strangers(rows: Sequence[Row], config: Config) -> list[Finding]:
    if not config.units:
        return []
    known = {"", *config.units}
    odd = [row for row in rows if row.business_unit not in known]
    if not odd:
        return []
    names = _some(sorted({row.business_unit for row in odd}))
    return [Finding(
        code=FindingCode.UNKNOWN_UNIT, blocks=True, row_ids=tuple(sorted(row.row_id for row in odd)),
        message=f"business units that the table does not list: {names}; mend the rows or add the units",
    )]  # fmt: skip


def _some(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
