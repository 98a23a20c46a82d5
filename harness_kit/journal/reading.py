"""Files to text: strict about encodings and shape, and interpreting nothing.

table = read("journal.csv")           # every cell as text
rows = parsing.parse_rows(table)      # typed, or refused with file, row, column, value and remedy
"""

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from harness_kit.errors import InputError
from harness_kit.journal.columns import FIELDS, fold
from harness_kit.journal.quiet import quiet
from harness_kit.journal.sheets import read_xlsx
from harness_kit.journal.tables import HEADER_WITHIN, Refusal, RefusedError, Table, table_from_cells


@quiet()
def read(path: str | Path, *, columns: Mapping[str, str] | None = None, sheet: str | None = None) -> Table:
    """Read a .csv, .tsv, .txt or .xlsx file; see `read_csv` and `sheets.read_xlsx`."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in (".xlsx", ".xlsm"):
        return read_xlsx(file, columns=columns, sheet=sheet)
    if suffix in (".csv", ".tsv", ".txt") and sheet is None:
        return read_csv(file, columns=columns)
    raise InputError(
        f"{file.name!r}: expected a .csv, .tsv or .txt file, or .xlsx with or without a sheet's name"
    )


def read_csv(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Table:
    """Read text that is separated by commas, semicolons or tabs; `RefusedError` where it is not clean.

    A byte order mark says the encoding; without one it is UTF-8, else CP949; else it is refused.
    """
    file = Path(path)
    text = decode(file.read_bytes(), file.name)
    separator = _separator(list(islice(io.StringIO(text), HEADER_WITHIN)), columns or {})
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    numbered: list[tuple[int, list[str]]] = []
    while True:
        number = reader.line_num + 1
        try:
            numbered.append((number, next(reader)))
        except StopIteration:
            return table_from_cells(numbered, file=file.name, columns=columns)
        except csv.Error as error:
            raise RefusedError([Refusal(
                file=file.name, row=number, column="", value="",
                remedy=f"{error}; close every quote and export the file again",
            )]) from error  # fmt: skip


def _separator(head: Sequence[str], columns: Mapping[str, str]) -> str:
    """The separator that finds the most known headers; counting would be misled by commas in titles."""
    known = {name for names in FIELDS.values() for name in names} | {fold(name) for name in columns}

    def headers(separator: str) -> int:
        return max((sum(fold(cell) in known for cell in line.split(separator)) for line in head), default=0)

    return max(",\t;", key=headers)


def decode(data: bytes, file: str) -> str:
    """Return the text of `data` by byte order mark, as UTF-8, or as CP949; never with replaced letters."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(mark):
            body, tried = data[len(mark) :], [encoding]
            break
    else:
        body, tried = data, ["utf-8", "cp949"]
    first: UnicodeDecodeError | None = None
    for encoding in tried:
        try:
            return body.decode(encoding)
        except UnicodeDecodeError as error:
            first = first or error
    assert first is not None
    offset = first.start + len(data) - len(body)
    raise RefusedError([Refusal(
        file=file, row=0, column="", value=data[offset : offset + 4].hex(" "),
        remedy=f"byte {offset} is not {' or '.join(tried)}; save the file as UTF-8 and read it again",
    )])  # fmt: skip
