"""Journals as text: what was read before anything is interpreted, and why something was refused.

A `Table` is the raw input: the gate computes from it anew. Several pieces of one journal are `joined`; how
it was cut, or in which order its lines stand, changes no row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness_kit.errors import InputError
from harness_kit.journal.columns import FIELDS, ColumnMap, fold, map_columns
from harness_kit.journal.fields import clean
from harness_kit.journal.quiet import quiet

HEADER_WITHIN = 20
"""Lines in which the header must stand; exports put titles above it."""

_SHOWN = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """One cell, or one file, that cannot be read."""

    file: str
    row: int
    """Line of the file, or row of the sheet, from 1; 0 for the whole file."""
    column: str
    value: str
    remedy: str
    """What was expected and what to do."""

    def __str__(self) -> str:
        place = f"{self.file} row {self.row}" if self.row else self.file
        column = f", column {self.column!r}" if self.column else ""
        return f"{place}{column}: {self.remedy}"


class RefusedError(InputError):
    """A file holds what cannot be read; `refusals` lists each place."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        left = len(refusals) - _SHOWN
        more = f"\n… and {left} more" if left > 0 else ""
        super().__init__("\n".join(map(str, refusals[:_SHOWN])) + more)
        self.refusals = tuple(refusals)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a table as text."""

    file: str
    number: int
    """From 1, as the editor or the spreadsheet counts."""
    cells: tuple[str, ...]
    """One text for each of the table's fields."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A journal as text."""

    fields: tuple[str, ...]
    """Names out of `columns.FIELDS`, one for each cell of a line."""
    columns: tuple[str, ...]
    """The header under which each field stood."""
    headers: tuple[str, ...]
    """Every header of the file, those that are not used too."""
    lines: tuple[Line, ...]


def table_from_cells(
    numbered: Iterable[tuple[int, Sequence[str]]], *, file: str, columns: Mapping[str, str] | None = None
) -> Table:
    """Find the header among the first lines and take what stands below it; blank lines are left out."""
    filled = [(number, cells) for number, cells in numbered if any(clean(cell) for cell in cells)]
    place, found = _header([cells for _, cells in filled[:HEADER_WITHIN]], file, columns)
    header = filled[place][1]
    width, positions = len(header), [position for _, position in found.places]
    ragged = [
        Refusal(
            file=file, row=number, column="", value=str(len(cells)),
            remedy=f"{len(cells)} cells under {width} headers; quote texts that hold the separator",
        )
        for number, cells in filled[place + 1 :]
        if len(cells) < width or any(clean(cell) for cell in cells[width:])
    ]  # fmt: skip
    if ragged:
        raise RefusedError(ragged)
    lines = (
        Line(file=file, number=number, cells=tuple(cells[position] for position in positions))
        for number, cells in filled[place + 1 :]
    )
    return Table(
        fields=found.fields,
        columns=tuple(header[position] for position in positions),
        headers=tuple(header),
        lines=tuple(lines),
    )


def _header(
    lines: Sequence[Sequence[str]], file: str, columns: Mapping[str, str] | None
) -> tuple[int, ColumnMap]:
    nearest: tuple[str, ...] = tuple(FIELDS)
    for place, header in enumerate(lines):
        found = map_columns(header, columns if _holds(header, columns) else None)
        if not found.missing:
            return place, found
        nearest = min(nearest, found.missing, key=len)
    raise RefusedError([Refusal(
        file=file, row=0, column="", value="",
        remedy=f"no header in the first {HEADER_WITHIN} lines; columns not found: {', '.join(nearest)}; "
        "name them by columns={header: field}",
    )])  # fmt: skip


def _holds(header: Sequence[str], columns: Mapping[str, str] | None) -> bool:
    """Whether this line can be the header that `columns` speaks of; a title above it is not."""
    names = {fold(name) for name in header}
    return bool(columns) and any(fold(name) in names for name in columns or {})


@quiet()
def table_from_records(records: Iterable[Mapping[str, str]], *, file: str = "records") -> Table:
    """Make a table of mappings from field names (or known headers) to text, as a notebook cell holds them."""
    listed = list(records)
    header = list(dict.fromkeys(name for record in listed for name in record))
    if not listed:
        return Table(fields=(), columns=(), headers=(), lines=())
    bad = [(place, name) for place, record in enumerate(listed, 2) for name, value in record.items()
           if not isinstance(value, str)]  # fmt: skip
    if bad:
        place, name = bad[0]
        raise RefusedError([Refusal(
            file=file, row=place, column=name, value=repr(listed[place - 2][name]),
            remedy="is not text; give every cell as a string, so that nothing was rounded on the way",
        )])  # fmt: skip
    rows = ((place, [record.get(name, "") for name in header]) for place, record in enumerate(listed, 2))
    return table_from_cells([(1, header), *rows], file=file)


def joined(*tables: Table) -> Table:
    """Put the pieces of one journal together; `InputError` where their columns differ."""
    filled = [table for table in tables if table.lines] or list(tables[:1])
    if not filled:
        raise InputError("joined() was given no table; expected one or more")
    first = filled[0]
    for other in filled[1:]:
        if set(other.fields) != set(first.fields):
            odd = sorted(set(other.fields) ^ set(first.fields))
            raise InputError(
                f"the tables differ in {', '.join(odd)}; export every piece with the same columns"
            )
    lines: list[Line] = []
    for table in filled:
        order = [table.fields.index(field) for field in first.fields]
        lines += (
            Line(file=line.file, number=line.number, cells=tuple(line.cells[place] for place in order))
            for line in table.lines
        )
    headers = tuple(dict.fromkeys(name for table in tables for name in table.headers))
    return Table(fields=first.fields, columns=first.columns, headers=headers, lines=tuple(lines))
