"""Spreadsheets to text: numbers exactly, dates as days, codes with the zeros that their format shows."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from harness_kit.errors import InputError, MissingExtraError
from harness_kit.journal.tables import Refusal, RefusedError, Table, table_from_cells

EXACT = 2**53
"""From here on a spreadsheet's numbers no longer hold every integer."""


def read_xlsx(
    path: str | Path, *, columns: Mapping[str, str] | None = None, sheet: str | None = None
) -> Table:
    """Read one sheet of a workbook: the named one, or the only visible one.

    `RefusedError` for formulas, error cells, numbers too large to be exact, and times of day; they would
    have to be guessed. `MissingExtraError` without openpyxl.
    """
    try:
        import openpyxl  # an extra, and dear
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise MissingExtraError(
            "openpyxl, which reads .xlsx files, is missing; "
            'install the extra with: pip install "harness-kit[ledger]"'
        ) from None
    file = Path(path)
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=False)
    except (BadZipFile, InvalidFileException, KeyError, ValueError) as error:
        raise RefusedError([Refusal(
            file=file.name, row=0, column="", value="",
            remedy=f"is no workbook that can be opened ({error}); save it as .xlsx without a password",
        )]) from error  # fmt: skip
    try:
        page = _page(book, file.name, sheet)
        if book.epoch.year == 1904:
            # A plain number in a date column would be read four years off.
            raise RefusedError([Refusal(
                file=file.name, row=0, column="", value="1904",
                remedy="counts days from 1904; switch the workbook to the 1900 date system and save it again",
            )])  # fmt: skip
        return table_from_cells(_rows(page, file.name), file=file.name, columns=columns)
    finally:
        book.close()


def _page(book: Any, file: str, sheet: str | None) -> Any:
    visible = [page.title for page in book.worksheets if page.sheet_state == "visible"]
    if sheet is None and len(visible) == 1:
        return book[visible[0]]
    titles = [page.title for page in book.worksheets]
    if sheet is None or sheet not in titles:
        asked = f"sheet {sheet!r} is not in it" if sheet else f"{len(visible)} sheets are visible"
        raise InputError(f"{file}: {asked}; name one of: {', '.join(titles)}")
    return book[sheet]


def _rows(page: Any, file: str) -> Iterator[tuple[int, list[str]]]:
    # Some writers note a too small extent; without this the rest of the sheet would be left out silently.
    page.reset_dimensions()
    refusals: list[Refusal] = []
    width = 0
    for number, cells in enumerate(page.iter_rows(), 1):
        texts = []
        for place, cell in enumerate(cells):
            try:
                texts.append(_text(cell))
            except InputError as error:
                column = _letters(place)
                refusals.append(
                    Refusal(file=file, row=number, column=column, value=str(cell.value), remedy=str(error))
                )
        # Rows end at their last filled cell; the header's width is what a table's rows are held to.
        width = max(width, len(texts))
        yield number, texts + [""] * (width - len(texts))
    if refusals:
        raise RefusedError(refusals)


def _text(cell: Any) -> str:
    value = cell.value
    if value is None or (isinstance(value, str) and cell.data_type not in ("e", "f")):
        return value or ""
    if not isinstance(value, bool | int | float | date | time):
        kind = "an error" if cell.data_type == "e" else "a formula"
        raise InputError(f"{str(value)!r} is {kind}; paste the column as values, then save")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(value, str(cell.number_format))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    raise InputError(f"{str(value)!r} holds a time of day; format the column as a date without a time")


def _number(value: int | float, number_format: str) -> str:
    if isinstance(value, float) and not value.is_integer():
        # repr is the shortest text that reads back as this number: what was typed.
        text = repr(value)
        if "e" in text:
            raise InputError(f"{text!r} is too small or too large to be an amount; type it as text")
        return text
    whole = int(value)
    if abs(whole) >= EXACT:
        raise InputError(f"{value!r} is too large to be exact in a spreadsheet; type it as text")
    return str(whole).zfill(len(number_format)) if re.fullmatch("0+", number_format) else str(whole)


def _letters(place: int) -> str:
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
