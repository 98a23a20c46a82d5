"""The decision chain: an append-only table in which each row carries the hash of the one before.

An edited, deleted or moved row breaks it, and `verify` says which and how. The newest hash is kept apart,
so that rows missing at the end are found too. Whoever can write the whole file can also forge the whole
chain: it shows accidents and tampering with rows, and signatures (see `approval`) show who decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_kit import canonical
from harness_kit.codes import ChainFault
from harness_kit.errors import ApprovalError

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
    if unique is not None:
        held = db.execute("SELECT seq, kind FROM decisions WHERE once = ?", (unique,)).fetchone()
        if held is not None:
            raise ApprovalError(
                f"{unique!r} was decided already (row {held[0]}, {held[1]}); it is decided once"
            )
    head = db.execute("SELECT seq, hash FROM chain_head").fetchone() or (0, START)
    blank = Link(
        seq=head[0] + 1, kind=kind, run_id=run_id, time=time,
        body=canonical.loads(canonical.dumps(dict(body))),
        unique=unique, previous=head[1], hash="",
    )  # fmt: skip
    link = Link(**{**vars(blank), "hash": blank.computed()})
    db.execute(
        "INSERT INTO decisions (seq, kind, run_id, time, body, once, previous, hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (link.seq, kind, run_id, time, canonical.text(dict(link.body)), unique, link.previous, link.hash),
    )
    db.execute("REPLACE INTO chain_head (one, seq, hash) VALUES (1, ?, ?)", (link.seq, link.hash))
    return link


def links(db: "sqlite3.Connection", run_id: str | None = None, kind: str | None = None) -> list[Link]:
    """Return links in order."""
    rows = db.execute(
        "SELECT seq, kind, run_id, time, body, once, previous, hash FROM decisions "
        "WHERE (?1 IS NULL OR run_id = ?1) AND (?2 IS NULL OR kind = ?2) ORDER BY seq",
        (run_id, kind),
    )
    return [
        Link(
            seq=seq, kind=what, run_id=run, time=time, body=canonical.loads(body), unique=once,
            previous=previous, hash=hashed,
        )
        for seq, what, run, time, body, once, previous, hashed in rows
    ]  # fmt: skip


def verify(db: "sqlite3.Connection") -> ChainReport:
    """Walk the chain from its start to its head and report the first fault."""
    chain = links(db)
    by_hash = {link.hash: link.seq for link in chain}

    def fault(kind: ChainFault, seq: int, message: str) -> ChainReport:
        return ChainReport(length=len(chain), fault=kind, seq=seq, message=f"row {seq}: {message}")

    before, expected = START, 1
    for link in chain:
        if link.seq != expected:
            return fault(ChainFault.DELETED, expected, f"it is missing; the next row is {link.seq}")
        if link.previous != before and link.previous in by_hash:
            told = f"it follows row {by_hash[link.previous]}, and stands after another; rows were moved"
            return fault(ChainFault.REORDERED, link.seq, told)
        if link.previous != before:
            told = "the row that it follows is not in the chain; that one was deleted or replaced"
            return fault(ChainFault.DELETED, link.seq, told)
        if link.hash != link.computed():
            return fault(ChainFault.EDITED, link.seq, "its contents do not give its hash; it was edited")
        before, expected = link.hash, expected + 1
    head = db.execute("SELECT seq, hash FROM chain_head").fetchone() or (0, START)
    if head[0] > len(chain):
        return fault(ChainFault.DELETED, len(chain) + 1, f"rows up to {head[0]} are missing at the end")
    if tuple(head) != (len(chain), before):
        return fault(
            ChainFault.EDITED, len(chain), "the kept head of the chain is not its last row; one was edited"
        )
    return ChainReport(length=len(chain), fault=None, seq=None, message="")
