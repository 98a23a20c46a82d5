"""The ledger: reserve before a call, settle after it.

    budget = Budget(6)
    with budget.call(1, role="summarizer") as spend:   # reserved and started before the block runs
        answer = model(request)                        # a call that raises stays spent
        spend.settle(1)                                # optional: without it, what was reserved

Units are whole numbers and have no currency. At every reservation, settled + reserved units stay within
the limit; a call that turns out dearer than reserved is recorded, closes the ledger, and is reported.
Without a store a ledger lives in memory and serves the threads of one process; with one
(`Budget(6, store=store, name="nightly")`) it serves every process that opens the same store.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness_kit.codes import SpendState
from harness_kit.errors import BudgetClosedError, BudgetError, BudgetExceededError, InputError
from harness_kit.processes import is_alive, own_mark
from harness_kit.spends import COLUMNS, RoleUse, SpendRow, Totals, checked_reason, checked_units, spend_row
from harness_kit.store import TraceStore

if TYPE_CHECKING:
    import sqlite3

_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS ledgers (
        name TEXT PRIMARY KEY, units INTEGER NOT NULL, spent INTEGER NOT NULL DEFAULT 0,
        reserved INTEGER NOT NULL DEFAULT 0, closed TEXT, acts TEXT NOT NULL DEFAULT '[]')""",
    """CREATE TABLE IF NOT EXISTS spends (
        id INTEGER PRIMARY KEY, ledger TEXT NOT NULL, key TEXT, role TEXT NOT NULL, units INTEGER NOT NULL,
        actual INTEGER, state TEXT NOT NULL, owner TEXT NOT NULL, note TEXT NOT NULL DEFAULT '',
        run TEXT NOT NULL DEFAULT '', UNIQUE (ledger, key))""",
    "CREATE INDEX IF NOT EXISTS spends_by_state ON spends (ledger, state)",
    "CREATE INDEX IF NOT EXISTS spends_by_run ON spends (ledger, run)",
)
FAILED = "failed"
"""Note of a spend whose call raised: it is paid for, and a further attempt pays anew."""
_OPEN = (SpendState.RESERVED.value, SpendState.STARTED.value)


class Spend:
    """One reservation. `start` it before the call and `settle` it after, or `refund` it unstarted."""

    def __init__(self, budget: "Budget", row: SpendRow, *, resumed: bool) -> None:
        self._budget = budget
        self.id = row.id
        self.units = row.units
        self.resumed = resumed
        """True where the key was known already: this spend was begun earlier, maybe by another process."""

    @property
    def row(self) -> SpendRow:
        """The reservation as it stands now."""
        return self._budget._row(self.id)

    @property
    def is_open(self) -> bool:
        """True until it is settled, refunded or released."""
        return self.row.state.value in _OPEN

    def start(self) -> None:
        """Say that the call begins; from here on the units cannot be refunded."""
        self._budget._move(self.id, SpendState.STARTED, None, "")

    def settle(self, actual: int | None = None) -> None:
        """Record what the call cost, in units (what was reserved, if None). The same again does nothing."""
        units = self.units if actual is None else checked_units(actual, "actual")
        self._budget._move(self.id, SpendState.SETTLED, units, "")

    def refund(self, reason: str) -> None:
        """Give the units back; only for a call that never started."""
        self._budget._move(self.id, SpendState.REFUNDED, None, checked_reason(reason, "refund"))


class Budget:
    """A ledger of whole units with a limit; usable from any thread."""

    def __init__(self, limit: int, *, store: TraceStore | None = None, name: str = "budget") -> None:
        self.limit = checked_units(limit, "limit")
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"ledger name {name!r} is blank; give it a name")
        self.name = name
        self._store = store if store is not None else TraceStore(":memory:")
        with self._store.transaction() as db:
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute("INSERT OR IGNORE INTO ledgers (name, units) VALUES (?, ?)", (name, limit))
            (held,) = db.execute("SELECT units FROM ledgers WHERE name = ?", (name,)).fetchone()
        if held != limit:
            raise InputError(
                f"ledger {name!r} has a limit of {held} units, not {limit}; use {held} or another name"
            )

    def __repr__(self) -> str:
        now = self.totals()
        return f"Budget({self.name!r}: spent {now.spent}, reserved {now.reserved}, limit {now.limit})"

    def totals(self) -> Totals:
        """Return the ledger's numbers, all read at one moment."""
        with self._store.read() as db:
            return self._totals(db)

    @property
    def spent(self) -> int:
        """Units settled so far, failed calls and overruns included."""
        return self.totals().spent

    @property
    def reserved(self) -> int:
        """Units reserved and not yet settled, those of crashed owners included."""
        return self.totals().reserved

    @property
    def left(self) -> int:
        """Units that can still be reserved."""
        return self.totals().left

    @property
    def closed(self) -> str | None:
        """Why the ledger is closed; None while it is open."""
        return self.totals().closed

    def reserve(self, units: int, *, role: str = "", key: str | None = None, run_id: str = "") -> Spend:
        """Set `units` aside, or raise `BudgetExceededError` / `BudgetClosedError` and take nothing.

        With `key`, a second call (after a crash, say) returns the first one's spend instead of a new one.
        """
        return self._reserve(units, role, key, run_id, SpendState.RESERVED)

    @contextmanager
    def call(
        self, units: int, *, role: str = "", key: str | None = None, run_id: str = ""
    ) -> Iterator[Spend]:
        """Reserve and start, run the block, settle. A block that raises has still been paid for."""
        spend = self._reserve(units, role, key, run_id, SpendState.STARTED)
        if spend.resumed and spend.row.state is SpendState.RESERVED:
            spend.start()
        failed = True
        try:
            yield spend
            failed = False
        finally:
            if spend.is_open:
                self._move(spend.id, SpendState.SETTLED, spend.units, FAILED if failed else "")

    def by_role(self) -> dict[str, RoleUse]:
        """Return calls and units settled per role, by role name."""
        with self._store.read() as db:
            rows = db.execute(
                "SELECT role, COUNT(*), SUM(actual) FROM spends WHERE ledger = ? AND state = ? GROUP BY role",
                (self.name, SpendState.SETTLED.value),
            ).fetchall()
        return {role: RoleUse(calls=calls, units=units) for role, calls, units in sorted(rows)}

    def spent_by(self, run_id: str) -> int:
        """Return the units settled for one run."""
        with self._store.read() as db:
            (units,) = db.execute(
                "SELECT COALESCE(SUM(actual), 0) FROM spends WHERE ledger = ? AND run = ?",
                (self.name, run_id),
            ).fetchone()
        return int(units)

    def find(self, key: str) -> SpendRow | None:
        """Return the reservation of that key, or None."""
        with self._store.read() as db:
            found = db.execute(
                f"SELECT {COLUMNS} FROM spends WHERE ledger = ? AND key = ?", (self.name, key)
            ).fetchone()
        return None if found is None else spend_row(found)

    def rows(self) -> list[SpendRow]:
        """Return every reservation, refused ones included, in the order in which they were asked for."""
        with self._store.read() as db:
            found = db.execute(f"SELECT {COLUMNS} FROM spends WHERE ledger = ? ORDER BY id", (self.name,))
            return [spend_row(row) for row in found]

    def unknown(self) -> list[SpendRow]:
        """Return open reservations whose process is gone: nobody can say whether their calls ran.

        Their units stay reserved until somebody settles or releases them.
        """
        with self._store.read() as db:
            found = db.execute(
                f"SELECT {COLUMNS}, owner FROM spends WHERE ledger = ? AND state IN (?, ?) ORDER BY id",
                (self.name, *_OPEN),
            ).fetchall()
        return [spend_row(row[:-1]) for row in found if not is_alive(row[-1])]

    def release(self, spend_id: int, *, reason: str) -> None:
        """Give the units of an *unknown* reservation back, on purpose and with a reason."""
        if spend_id not in {row.id for row in self.unknown()}:
            raise BudgetError(f"spend {spend_id!r} is not among the unknown ones; see Budget.unknown()")
        self._move(spend_id, SpendState.RELEASED, None, checked_reason(reason, "release"))

    def reopen(self, *, reason: str) -> None:
        """Let a ledger that an overrun closed take reservations again; the reason is kept."""
        said = checked_reason(reason, "reopen")
        with self._store.transaction() as db:
            closed, acts = db.execute(
                "SELECT closed, acts FROM ledgers WHERE name = ?", (self.name,)
            ).fetchone()
            if closed is None:
                raise BudgetError(f"ledger {self.name!r} is open; there is nothing to reopen")
            history = [*json.loads(acts), {"closed": closed, "reopened": said}]
            db.execute(
                "UPDATE ledgers SET closed = NULL, acts = ? WHERE name = ?",
                (json.dumps(history, ensure_ascii=False), self.name),
            )

    def _reserve(self, units: int, role: str, key: str | None, run_id: str, state: SpendState) -> Spend:
        checked_units(units, "asked")
        with self._store.transaction() as db:
            if key is not None:
                known = db.execute(
                    f"SELECT {COLUMNS} FROM spends WHERE ledger = ? AND key = ?", (self.name, key)
                ).fetchone()
                if known is not None:
                    row = spend_row(known)
                    if row.state not in (SpendState.REFUSED, SpendState.REFUNDED, SpendState.RELEASED):
                        if (row.units, row.role) != (units, role):
                            raise BudgetError(
                                f"spend {key!r} was reserved as {row.units} units for {row.role!r}, "
                                f"not {units} for {role!r}; use another key"
                            )
                        return Spend(self, row, resumed=True)
                    db.execute(
                        "UPDATE spends SET key = NULL WHERE id = ?", (row.id,)
                    )  # asked anew; history stays
            now = self._totals(db)
            granted = now.closed is None and units <= now.left
            cursor = db.execute(
                "INSERT INTO spends (ledger, key, role, units, state, owner, run) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    self.name,
                    key,
                    role,
                    units,
                    (state if granted else SpendState.REFUSED).value,
                    own_mark(),
                    run_id,
                ),
            )
            if granted:
                db.execute("UPDATE ledgers SET reserved = reserved + ? WHERE name = ?", (units, self.name))
        # Raised outside the transaction, so that the refusal itself is kept as a row.
        if now.closed is not None:
            raise BudgetClosedError(
                f"ledger {self.name!r} is closed ({now.closed}); reopen it with a reason to go on"
            )
        if not granted:
            raise BudgetExceededError(
                f"asked {units} units of {self.name!r}: spent {now.spent}, reserved {now.reserved}, "
                f"left {now.left} of {now.limit}; ask for less or raise the limit",
                asked=units, spent=now.spent, reserved=now.reserved, limit=now.limit,
            )  # fmt: skip
        return Spend(self, self._row(int(cursor.lastrowid or 0)), resumed=False)

    def _move(self, spend_id: int, to: SpendState, actual: int | None, note: str) -> None:
        """Take one reservation to its next state and keep the ledger's sums right, in one transaction."""
        with self._store.transaction() as db:
            row = self._row(spend_id)
            if row.state is to and row.actual == actual:
                return
            allowed = {
                SpendState.STARTED: (SpendState.RESERVED,),
                SpendState.SETTLED: (SpendState.RESERVED, SpendState.STARTED),
                SpendState.REFUNDED: (SpendState.RESERVED,),
                SpendState.RELEASED: (SpendState.RESERVED, SpendState.STARTED),
            }[to]
            if row.state not in allowed:
                raise BudgetError(
                    f"spend {row.id} of {self.name!r} is {row.state.value} (actual {row.actual}), "
                    f"so it cannot become {to.value}; only {', '.join(allowed)} can"
                )
            db.execute(
                "UPDATE spends SET state = ?, actual = ?, note = ? WHERE id = ?",
                (to.value, actual, note, spend_id),
            )
            if to is SpendState.STARTED:
                return
            db.execute(
                "UPDATE ledgers SET reserved = reserved - ?, spent = spent + ? WHERE name = ?",
                (row.units, actual or 0, self.name),
            )
            if actual is not None and actual > row.units:
                why = f"spend {row.id} reserved {row.units} units and cost {actual}"
                db.execute("UPDATE ledgers SET closed = COALESCE(closed, ?) WHERE name = ?", (why, self.name))

    def _row(self, spend_id: int) -> SpendRow:
        with self._store.read() as db:
            found = db.execute(
                f"SELECT {COLUMNS} FROM spends WHERE ledger = ? AND id = ?", (self.name, spend_id)
            ).fetchone()
        if found is None:
            raise BudgetError(f"ledger {self.name!r} has no spend {spend_id!r}; see Budget.rows()")
        return spend_row(found)

    def _totals(self, db: "sqlite3.Connection") -> Totals:
        limit, spent, reserved, closed = db.execute(
            "SELECT units, spent, reserved, closed FROM ledgers WHERE name = ?", (self.name,)
        ).fetchone()
        return Totals(limit=limit, spent=spent, reserved=reserved, closed=closed)
