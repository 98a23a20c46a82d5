"""What a result is known by: the same rows, config and allocations give the same 64 hex digits.

Neither the order of rows nor the file that they came from goes in, and no clock. The result's digest leaves
the code out, so that a repair can show that it changed nothing else; the receipt's takes it in.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from harness_kit.canonical import fingerprint
from harness_kit.journal.config import Config
from harness_kit.journal.quiet import quiet
from harness_kit.journal.rows import Allocation, Row, sorted_allocations

Plain = str | int | None | list[str]
Records = dict[str, list[str] | list[list[Plain]]]

_ROW = Row.__slots__
_ALLOCATION = Allocation.__slots__


@quiet()
def result_digest(rows: Iterable[Row], config: Config, allocations: Iterable[Allocation]) -> str:
    """Return the SHA-256 of rows (by id), config and allocations in canonical JSON."""
    ordered = sorted(rows, key=lambda row: row.row_id)
    return fingerprint({
        "allocations": _table(_ALLOCATION, sorted_allocations(allocations)),
        "config": config.to_mapping(),
        "rows": _table(_ROW, ordered),
    })  # fmt: skip


def receipt_digest(result: str, code: Mapping[str, str]) -> str:
    """Return the SHA-256 of a result's digest together with the code's file hashes (`Skills.hashes`)."""
    return fingerprint({"code": dict(code), "result": result})


def _table(fields: Sequence[str], records: Iterable[Row | Allocation]) -> Records:
    """Names once and values in rows: a tenth of the bytes of one object for each record."""
    rows = [[_plain(getattr(record, name)) for name in fields] for record in records]
    return {"fields": list(fields), "rows": rows}


def _plain(value: object) -> Plain:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return [str(item) for item in value]
    return value if isinstance(value, str | int) else None
