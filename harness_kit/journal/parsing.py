"""Text to rows: identifiers, amounts and dates, each clean or refused with its cell and the remedy.

>>> from harness_kit.journal.tables import table_from_records
>>> record = {"voucher_id": "V1", "posting_date": "20260331", "account_code": "41210",
...           "debit": "", "credit": "1,000", "business_unit": "S01"}
>>> parse_rows(table_from_records([record]))[0].amount
-1000
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date
from functools import lru_cache, partial
from typing import TypeVar

from harness_kit.errors import InputError
from harness_kit.journal.columns import SIDES, fold
from harness_kit.journal.fields import clean, identifier, parse_date
from harness_kit.journal.money import exponent, parse_amount
from harness_kit.journal.quiet import quiet
from harness_kit.journal.rows import Row
from harness_kit.journal.tables import Refusal, RefusedError, Table

T = TypeVar("T")


class _CellError(Exception):
    def __init__(self, field: str, text: str, remedy: str) -> None:
        super().__init__(remedy)
        self.field, self.text, self.remedy = field, text, remedy


@quiet()
def parse_rows(table: Table, *, units: AbstractSet[str] = frozenset()) -> tuple[Row, ...]:
    """Return the typed rows in order of row id; `RefusedError` with the first faulty cell of every line.

    `units` is the table of business units: what it lists is a name, even 'NA'. A row without an id gets
    'date/voucher/line number', or, where lines have no number, its rank among the voucher's lines.
    """
    known = frozenset(units)
    headers = dict(zip(table.fields, table.columns, strict=True))
    refusals: list[Refusal] = []
    rows: list[Row] = []
    nameless: dict[tuple[date, str], list[Row]] = {}
    for line in table.lines:
        try:
            row = _row(dict(zip(table.fields, line.cells, strict=True)), known)
        except _CellError as fault:
            refusals.append(Refusal(
                file=line.file, row=line.number, column=headers.get(fault.field, fault.field),
                value=fault.text, remedy=fault.remedy,
            ))  # fmt: skip
            continue
        if row.row_id:
            rows.append(row)
        else:
            nameless.setdefault(row.voucher, []).append(row)
    if refusals:
        raise RefusedError(refusals)
    for (day, voucher), lines in nameless.items():
        # Ranked by content and not by place, so that shuffling a file renames nothing.
        lines.sort(key=_content)
        rows += (_renamed(row, f"{day.isoformat()}/{voucher}/{rank}") for rank, row in enumerate(lines, 1))
    rows.sort(key=lambda row: row.row_id)
    return tuple(rows)


def _row(cells: Mapping[str, str], units: frozenset[str]) -> Row:
    currency = _cell(cells, "currency", _currency)
    debit, credit = _sides(cells, currency)
    voucher = _cell(cells, "voucher_id", partial(_required, "voucher id"))
    day = _cell(cells, "posting_date", parse_date)
    row_id, line = _name(cells.get("row_id", "")), _name(cells.get("line", ""))
    return Row(
        row_id=row_id or (f"{day.isoformat()}/{voucher}/{line}" if line else ""),
        voucher_id=voucher,
        posting_date=day,
        account_code=_cell(cells, "account_code", partial(_required, "account code")),
        debit=debit,
        credit=credit,
        currency=currency,
        counterparty=_name(cells.get("counterparty", "")),
        business_unit=_name(cells.get("business_unit", ""), units),
        memo=clean(cells.get("memo", "")),
        doc_date=_cell(cells, "doc_date", _optional_date),
        clearing_ref=_name(cells.get("clearing_ref", "")),
        assignment=_name(cells.get("assignment", "")),
        reversal_of=_name(cells.get("reversal_of", "")),
    )


# Accounts, units and parties are few and stand in every line.
_name = lru_cache(maxsize=4096)(identifier)


def _cell(cells: Mapping[str, str], field: str, convert: Callable[[str], T]) -> T:
    text = cells.get(field, "")
    try:
        return convert(text)
    except InputError as error:
        raise _CellError(field, text, str(error)) from None


def _sides(cells: Mapping[str, str], currency: str) -> tuple[int, int]:
    convert = partial(parse_amount, currency=currency)
    if "debit" in cells and "credit" in cells:
        return _cell(cells, "debit", convert), _cell(cells, "credit", convert)
    side, amount = _cell(cells, "side", _side), _cell(cells, "amount", convert)
    return (amount, 0) if side > 0 else (0, amount)


def _side(text: str) -> int:
    try:
        return SIDES[fold(text)]
    except KeyError:
        raise InputError(
            f"{text!r} is no side; expected 3, 차변, D or S for debit, or 4, 대변, C or H for credit"
        ) from None


@lru_cache(maxsize=256)
def _currency(text: str) -> str:
    code = identifier(text).upper() or "KRW"
    exponent(code)
    return code


def _required(what: str, text: str) -> str:
    found = _name(text)
    if not found:
        raise InputError(
            f"{text!r} is no {what}; every line needs one: fill it in, or leave out lines of totals"
        )
    return found


def _optional_date(text: str) -> date | None:
    return parse_date(text) if _name(text) else None


def _content(row: Row) -> tuple[str, ...]:
    return tuple(str(getattr(row, name)) for name in Row.__slots__)


def _renamed(row: Row, row_id: str) -> Row:
    values = {name: getattr(row, name) for name in Row.__slots__}
    return Row(**{**values, "row_id": row_id})
