"""The decision chain: an append-only table in which each row carries the hash of the one before.

An edited, deleted or moved row breaks it, and `verify` says which and how. The newest hash is kept apart,
so that rows missing at the end are found too. Whoever can write the whole file can also forge the whole
chain: it shows accidents and tampering with rows, and signatures (see `approval`) show who decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness_kit import canonical
from harness_kit.codes import ChainFault
from harness_kit.errors import ApprovalError, HarnessError
from harness_kit.records import checked_name, checked_object, stored_json
from harness_kit.trace import moment

if TYPE_CHECKING:
    import sqlite3

CHAIN_SCHEMA = (
    """CREATE TABLE decisions (
        seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, run_id TEXT NOT NULL, time TEXT NOT NULL,
        body TEXT NOT NULL, once TEXT UNIQUE, previous TEXT NOT NULL, hash TEXT NOT NULL)""",
    "CREATE INDEX decisions_by_run ON decisions (run_id)",
    """CREATE TABLE chain_head (
        one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL)""",
)
_COLUMNS = "seq, kind, run_id, time, body, once, previous, hash"
START = "0" * 64
"""What the first row carries as the hash before it."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """One row of the chain."""

    seq: int
    """Position, from 1."""
    kind: str
    """What was decided or done: 'answer', 'use', 'resolve', and the receipts of later chapters."""
    run_id: str
    time: str
    body: Mapping[str, Any]
    unique: str | None
    """A name that may stand in the chain once, if any."""
    previous: str
    hash: str
    """SHA-256 over all the other fields."""

    def computed(self) -> str:
        """Return the hash that the other fields give."""
        return canonical.fingerprint(
            {
                "seq": self.seq, "kind": self.kind, "run_id": self.run_id, "time": self.time,
                "body": dict(self.body), "unique": self.unique, "previous": self.previous,
            }
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ChainReport:
    """What a walk along the chain found."""

    length: int
    fault: ChainFault | None
    """None where the chain is whole."""
    seq: int | None
    """Where the first fault is."""
    message: str
    """The fault in words; '' where there is none."""

    @property
    def ok(self) -> bool:
        """True where the chain is whole."""
        return self.fault is None


def append_link(
    db: "sqlite3.Connection",
    *,
    kind: str,
    run_id: str,
    time: str,
    body: Mapping[str, Any],
    unique: str | None,
) -> Link:
    """Append inside the caller's transaction."""
    text = canonical.text(checked_object(body, "decision body"))
    moment(time)
    checked_name(kind, "decision kind")
    checked_name(run_id, "run id")
    if unique is not None:
        checked_name(unique, "unique name")
        held = db.execute("SELECT seq, kind FROM decisions WHERE once = ?", (unique,)).fetchone()
        if held is not None:
            raise ApprovalError(
                f"{unique!r} was decided already (row {held[0]}, {held[1]}); it is decided once"
            )
    last, head = db.execute("SELECT seq, hash FROM chain_head").fetchone() or (0, START)
    unhashed = _link((last + 1, kind, run_id, time, text, unique, head, ""))
    link = replace(unhashed, hash=unhashed.computed())
    db.execute(
        f"INSERT INTO decisions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (link.seq, kind, run_id, time, text, unique, head, link.hash),
    )
    db.execute("REPLACE INTO chain_head (one, seq, hash) VALUES (1, ?, ?)", (link.seq, link.hash))
    return link


def links(db: "sqlite3.Connection", run_id: str | None = None, kind: str | None = None) -> list[Link]:
    """Return links in order."""
    asked = {name: value for name, value in (("run_id", run_id), ("kind", kind)) if value is not None}
    where = " AND ".join(f"{name} = ?" for name in asked) or "TRUE"
    rows = db.execute(f"SELECT {_COLUMNS} FROM decisions WHERE {where} ORDER BY seq", (*asked.values(),))
    return [_link(row) for row in rows]


def _link(row: tuple[Any, ...]) -> Link:
    seq, kind, run_id, time, body, once, previous, hashed = row
    return Link(
        seq=seq, kind=kind, run_id=run_id, time=time, body=stored_json(body, f"decision {seq}"), unique=once,
        previous=previous, hash=hashed,
    )  # fmt: skip


def verify(db: "sqlite3.Connection") -> ChainReport:
    """Walk the chain from its start to its head and report the first fault."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM decisions ORDER BY seq").fetchall()
    last, head = db.execute("SELECT seq, hash FROM chain_head").fetchone() or (0, START)
    places = {row[-1]: row[0] for row in rows}

    def fault(kind: ChainFault, seq: int, message: str) -> ChainReport:
        return ChainReport(length=len(rows), fault=kind, seq=seq, message=f"row {seq}: {message}")

    before, expected = START, 1
    for row in rows:
        seq, previous = row[0], row[-2]
        if seq != expected:
            return fault(ChainFault.DELETED, expected, f"it is missing; the next row is {seq}")
        if previous != before and previous in places:
            told = f"it follows row {places[previous]}, and stands after another; rows were moved"
            return fault(ChainFault.REORDERED, seq, told)
        if _holds(row, previous=before):
            if previous != before:
                return fault(ChainFault.EDITED, seq, "the hash of the row before it was edited in it")
        elif previous == before:
            return fault(ChainFault.EDITED, seq, "its contents do not give its hash; it was edited")
        elif _holds(row, previous=previous):
            told = "the row after it follows another that is gone; it was edited and hashed anew"
            return fault(ChainFault.EDITED, seq - 1, told)
        else:
            told = "the row that stood here is gone, and the rows after it were numbered anew"
            return fault(ChainFault.DELETED, seq, told)
        before, expected = row[-1], expected + 1
    if last > len(rows):
        return fault(ChainFault.DELETED, len(rows) + 1, f"rows up to {last} are missing at the end")
    if last < len(rows):
        told = f"it was added from outside; the kept head of the chain is row {last}"
        return fault(ChainFault.EDITED, last + 1, told)
    if head != before:
        return fault(ChainFault.EDITED, len(rows), "it is not the kept head of the chain; one was edited")
    return ChainReport(length=len(rows), fault=None, seq=None, message="")


def _holds(row: tuple[Any, ...], *, previous: str) -> bool:
    """Whether a row's contents, with that hash before it, give its own hash; whatever was written into it."""
    try:
        link = _link((*row[:-2], previous, row[-1]))
        whole = isinstance(link.body, dict) and canonical.text(link.body) == row[4]
        return whole and link.hash == link.computed()
    except HarnessError:
        return False
