"""Tables as files that spreadsheets open."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_kit import canonical
from harness_kit.errors import InputError
from harness_kit.extras import need

if TYPE_CHECKING:
    import pandas as pd


def save(frame: "pd.DataFrame", path: str | os.PathLike[str]) -> Path:
    """Write a table as `.csv` (UTF-8, which spreadsheets open) or `.xlsx` (extra `ledger`); return the path.

    Objects and lists are written as JSON. Text is text: what begins with '=' is never a formula.
    """
    target = Path(path)
    plain = frame.map(
        lambda value: canonical.text(value) if isinstance(value, dict | list | tuple) else value
    )
    if target.suffix.lower() == ".csv":
        plain.map(_inert).to_csv(target, index=False, encoding="utf-8-sig", lineterminator="\n")
    elif target.suffix.lower() == ".xlsx":
        need("openpyxl", "ledger")
        with need("pandas", "notebook").ExcelWriter(target, engine="openpyxl") as writer:
            plain.to_excel(writer, index=False)
            for row in writer.book.active.iter_rows():
                for cell in row:
                    if cell.data_type == "f":
                        cell.data_type = "s"
    else:
        raise InputError(f"{str(target)!r} is neither .csv nor .xlsx; choose one of the two")
    return target


def _inert(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
