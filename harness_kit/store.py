"""The trace store: one SQLite file with runs, events, checkpoints, results and the decision chain.

    with TraceStore("runs.db") as store:
        store.open_run("run-1", started=clock())
        store.append([event])
        store.events("run-1")

Usable from any thread, and by any number of processes at once. What a returned call wrote survives `kill -9`
(`durability="process"`, the default) or loss of power too (`"power"`).
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

from harness_kit import canonical
from harness_kit.chain import CHAIN_SCHEMA, ChainReport, Link, append_link, links, verify
from harness_kit.codes import Durability, StepPhase
from harness_kit.database import Database
from harness_kit.errors import DuplicateRunError, InputError, SequenceError, StoreError
from harness_kit.records import (
    RUN_COLUMNS,
    Checkpoint,
    RunRecord,
    checked_name,
    checked_object,
    run_record,
    run_values,
    stored_json,
    unknown_run,
)
from harness_kit.trace import Event, moment, trusted_event

if TYPE_CHECKING:
    import sqlite3

_SCHEMA = (
    """CREATE TABLE runs (
        key INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, system TEXT NOT NULL, version TEXT NOT NULL,
        status TEXT, reason TEXT, passed INTEGER, review TEXT, committed INTEGER, cost INTEGER,
        units INTEGER, started TEXT NOT NULL, ended TEXT, duration_ms INTEGER, data TEXT NOT NULL)""",
    """CREATE TABLE events (
        run INTEGER NOT NULL REFERENCES runs, seq INTEGER NOT NULL, time TEXT NOT NULL, stage TEXT NOT NULL,
        data TEXT NOT NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID""",
    """CREATE TABLE checkpoints (
        run INTEGER PRIMARY KEY REFERENCES runs, number INTEGER NOT NULL, phase TEXT NOT NULL,
        state TEXT NOT NULL)""",
    """CREATE TABLE results (
        run INTEGER NOT NULL REFERENCES runs, name TEXT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (run, name)) WITHOUT ROWID""",
    *CHAIN_SCHEMA,
)


class TraceStore:
    """One store file; see the module."""

    def __init__(
        self, path: str | os.PathLike[str], *, durability: Durability | str = Durability.PROCESS
    ) -> None:
        try:
            chosen = Durability(durability)
        except ValueError:
            raise InputError(f"durability {durability!r} is not known; use 'process' or 'power'") from None
        self._database = Database(path, _SCHEMA, chosen)
        self.path = self._database.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; using the store afterwards is a `StoreError`."""
        self._database.close()

    def transaction(self) -> AbstractContextManager["sqlite3.Connection"]:
        """One write transaction: all of what happens inside is kept, or, after an exception, nothing."""
        return self._database.transaction()

    def read(self) -> AbstractContextManager["sqlite3.Connection"]:
        """The connection, for reading."""
        return self._database.read()

    def snapshot(self) -> AbstractContextManager[None]:
        """Until it ends, all reads are of one moment, whatever other processes write; for reading only."""
        return self._database.snapshot()

    def open_run(
        self,
        run_id: str,
        *,
        system: str = "",
        version: str = "",
        started: str,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin a run; `DuplicateRunError` where the id is taken."""
        moment(started)
        fields = {"system": system, "version": version, "data": {} if data is None else data}
        row = (checked_name(run_id, "run id"), *run_values(fields), started)
        with self.transaction() as db:
            added = db.execute(
                "INSERT INTO runs (run_id, system, version, data, started) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (run_id) DO NOTHING",
                row,
            )
            if not added.rowcount:
                raise DuplicateRunError(
                    f"run {run_id!r} is in the store already; pick another id, or resume it"
                )

    def update_run(self, run_id: str, **fields: Any) -> None:
        """Change what is known of a run: status, reason, passed, review, committed, cost, limit, ended,
        duration_ms, data."""
        values = run_values(fields)
        sets = ", ".join(f"{'units' if name == 'limit' else name} = ?" for name in ("key", *fields))
        with self.transaction() as db:
            key = self._key(db, run_id)
            db.execute(f"UPDATE runs SET {sets} WHERE key = ?", (key, *values, key))

    def run(self, run_id: str) -> RunRecord:
        """Return one run; `InputError` where there is none, naming ids like it."""
        with self.read() as db:
            key = self._key(db, run_id)
            return run_record(db.execute(f"SELECT {RUN_COLUMNS} FROM runs WHERE key = ?", (key,)).fetchone())

    def runs(self) -> list[RunRecord]:
        """Return all runs in the order in which they were begun."""
        with self.read() as db:
            return [run_record(row) for row in db.execute(f"SELECT {RUN_COLUMNS} FROM runs ORDER BY key")]

    def append(self, events: Iterable[Event]) -> int:
        """Store events, all or none, and return how many.

        Each run's events must continue what is stored: a gap, a repeat or an unknown run stores nothing.
        """
        # Drawn before the transaction, which nobody else should wait for while they are being made.
        drawn = list(events)
        with self.transaction() as db:
            # Encoded as SQLite asks for them, so that the text of a large batch is not held all at once.
            db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", self._event_rows(db, drawn))
        return len(drawn)

    def _event_rows(
        self, db: "sqlite3.Connection", events: list[Event]
    ) -> Iterator[tuple[int, int, str, str, str]]:
        run_id: str | None = None
        key = last = 0
        for event in events:
            if not isinstance(event, Event):
                raise InputError(f"cannot store {str(event)[:80]!r} as an event; expected Event")
            if event.run_id != run_id:
                # What was yielded before is in the table already, where a run that turns up again is seen.
                run_id = event.run_id
                key, last = self._position(db, run_id)
            if event.seq != last + 1:
                what = "a repeat" if event.seq <= last else "a gap"
                raise SequenceError(
                    f"run {run_id!r}: event {event.seq!r} is {what} after {last}; expected {last + 1}"
                )
            last += 1
            # An event's data is a read-only view of a dict: its own copy() is far faster than dict().
            data = event.data.copy()  # type: ignore[attr-defined]
            yield key, last, event.time, event.stage, canonical.text(data)

    def put_traces(
        self, traces: Iterable[tuple[str, Iterable[tuple[str, str, str]]]], *, system: str, version: str
    ) -> None:
        """Store small whole runs in one go: run id, then (time, stage, canonical text) a step."""
        with self.transaction() as db:
            (last,) = db.execute("SELECT COALESCE(MAX(key), 0) FROM runs").fetchone()
            runs, events = [], []
            for key, (run_id, steps) in enumerate(traces, last + 1):
                rows = [(key, number, *step) for number, step in enumerate(steps, 1)]
                runs.append((key, run_id, system, version, rows[0][2]))
                events += rows
            db.executemany(
                "INSERT INTO runs (key, run_id, system, version, status, started, data) "
                "VALUES (?, ?, ?, ?, 'finished', ?, '{}')",
                runs,
            )
            db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", events)

    def events(self, run_id: str) -> list[Event]:
        """Return a run's events in order."""
        return list(self.iter_events(run_id))

    def iter_events(self, run_id: str | None = None, *, batch: int = 5_000) -> Iterator[Event]:
        """Iterate over the events of a run, or of all runs in their order, reading `batch` at a time."""
        if batch < 1:
            raise InputError(f"batch is {batch!r}; expected 1 or more")
        if run_id is None:
            return self._iter_events("(run, seq) > (?, ?)", None, batch)
        with self.read() as db:
            key = self._key(db, run_id)
        return self._iter_events("run = ? AND seq > ?", key, batch)

    def _iter_events(self, where: str, key: int | None, batch: int) -> Iterator[Event]:
        names: dict[int, str] = {}
        after = (key or 0, 0)
        while True:
            with self.read() as db:
                rows = db.execute(
                    f"SELECT run, seq, time, stage, data FROM events WHERE {where} ORDER BY run, seq LIMIT ?",
                    (*after, batch),
                ).fetchall()
                for run in {row[0] for row in rows} - names.keys():
                    (names[run],) = db.execute("SELECT run_id FROM runs WHERE key = ?", (run,)).fetchone()
            for run, seq, time, stage, data in rows:
                yield trusted_event(names[run], seq, time, stage, stored_json(data, "an event"))
            if len(rows) < batch:
                return
            after = rows[-1][:2]

    def count_events(self, run_id: str | None = None) -> int:
        """Return how many events are stored, of one run or of all."""
        with self.read() as db:
            if run_id is None:
                return int(db.execute("SELECT COUNT(*) FROM events").fetchone()[0])
            return self._position(db, run_id)[1]

    def checkpoint(
        self,
        run_id: str,
        number: int,
        state: Mapping[str, Any],
        *,
        phase: StepPhase | str = StepPhase.COMPLETED,
    ) -> None:
        """Keep the newest state of a run; the one before it, and any text in it, is gone.

        A step number never goes back (`SequenceError`), nor a completed step to started.
        """
        if type(number) is not int or number < 0:
            raise InputError(f"step number is {number!r}; expected a whole number, 0 or more")
        if phase not in set(StepPhase):
            raise InputError(f"phase is {phase!r}; expected 'started' or 'completed'")
        text = canonical.text(checked_object(state, "state"))
        with self.transaction() as db:
            key = self._key(db, run_id)
            held = db.execute("SELECT number, phase FROM checkpoints WHERE run = ?", (key,)).fetchone()
            done = StepPhase.COMPLETED
            if held is not None and (held[0], held[1] == done) > (number, phase == done):
                raise SequenceError(
                    f"run {run_id!r} has {held[1]} step {held[0]}, so {phase} step {number} is of the past; "
                    "another process went on with this run: resume it from the store"
                )
            db.execute(
                "REPLACE INTO checkpoints (run, number, phase, state) VALUES (?, ?, ?, ?)",
                (key, number, str(phase), text),
            )

    def last_checkpoint(self, run_id: str) -> Checkpoint | None:
        """Return the newest state of a run, or None."""
        with self.read() as db:
            key = self._key(db, run_id)
            held = db.execute("SELECT number, phase, state FROM checkpoints WHERE run = ?", (key,)).fetchone()
        if held is None:
            return None
        state = stored_json(held[2], f"checkpoint of run {run_id!r}")
        return Checkpoint(number=held[0], phase=StepPhase(held[1]), state=state)

    def put_result(self, run_id: str, name: str, data: Any) -> None:
        """Keep a named result of a run. The same again does nothing; another value is a `StoreError`."""
        checked_name(name, "result name")
        text = canonical.text(data)
        with self.transaction() as db:
            key = self._key(db, run_id)
            held = db.execute("SELECT data FROM results WHERE run = ? AND name = ?", (key, name)).fetchone()
            if held is None:
                db.execute("INSERT INTO results (run, name, data) VALUES (?, ?, ?)", (key, name, text))
            elif held[0] != text:
                raise StoreError(f"run {run_id!r} has another result {name!r}; results are written once")

    def results(self, run_id: str) -> dict[str, Any]:
        """Return a run's results by name."""
        with self.read() as db:
            key = self._key(db, run_id)
            rows = db.execute("SELECT name, data FROM results WHERE run = ? ORDER BY name", (key,)).fetchall()
        return {name: stored_json(data, f"result {name!r} of run {run_id!r}") for name, data in rows}

    def record_decision(
        self, kind: str, run_id: str, body: Mapping[str, Any], *, time: str, unique: str | None = None
    ) -> Link:
        """Append a link to the chain. A `unique` that stands in it already is an `ApprovalError`."""
        with self.transaction() as db:
            return append_link(db, kind=kind, run_id=run_id, time=time, body=body, unique=unique)

    def decisions(self, run_id: str | None = None, kind: str | None = None) -> list[Link]:
        """Return the chain's links, of one run or kind or all."""
        with self.read() as db:
            return links(db, run_id, kind)

    def verify_decisions(self) -> ChainReport:
        """Walk the chain and explain the first link that was edited, deleted or moved."""
        with self.read() as db:
            return verify(db)

    def _key(self, db: "sqlite3.Connection", run_id: str) -> int:
        found = db.execute("SELECT key FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if found is None:
            raise unknown_run(db, run_id, self.path)
        return int(found[0])

    def _position(self, db: "sqlite3.Connection", run_id: str) -> tuple[int, int]:
        """Return a run's key and the seq of its last event."""
        found = db.execute(
            "SELECT key, (SELECT MAX(seq) FROM events WHERE run = key) FROM runs WHERE run_id = ?", (run_id,)
        ).fetchone()
        if found is None:
            raise unknown_run(db, run_id, self.path)
        return int(found[0]), int(found[1] or 0)
