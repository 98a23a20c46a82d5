"""One SQLite file of ours: opened, checked, and shared by threads and processes.

WAL lets readers go on while one writer writes; a writer takes its turn with `BEGIN IMMEDIATE` and waits up
to a minute for it. Every error of SQLite becomes one of ours, with what to do about it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harness_kit.codes import Durability
from harness_kit.errors import InputError, StoreCorruptError, StoreError, StoreVersionError

if TYPE_CHECKING:
    import sqlite3

APPLICATION_ID = 0x484B4954  # "HKIT"
VERSION = 1
"""Version of the schema; a store of a newer one is refused."""
WAIT_SECONDS = 60.0
_MAGIC = b"SQLite format 3\x00"
_OUTER = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
_INNER = ("SAVEPOINT inside", "RELEASE inside", ("ROLLBACK TO inside", "RELEASE inside"))
_abandoned: list["sqlite3.Connection"] = []
"""A forked child's copies of its parent's connections: never used, and never closed by the collector."""


class Database:
    """A connection that any thread may use, one at a time; a forked child opens its own."""

    def __init__(self, path: str | os.PathLike[str], schema: tuple[str, ...], durability: Durability) -> None:
        self.path = _checked_path(path)
        # Kept whole, since a forked child that opens it again may stand in another folder.
        self._file = self.path if self.path == ":memory:" else os.path.abspath(self.path)  # noqa: PTH100
        self._schema = schema
        self._durability = durability
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._is_closed = self._is_snapshot = False
        if self.path != ":memory:":
            _check_file(Path(self._file))
        self._open()

    def __del__(self) -> None:
        # At the interpreter's end little is left to close with; the file needs no closing to be whole.
        with suppress(Exception):
            if getattr(self, "_connection", None) is not None:
                self.close()

    def close(self) -> None:
        """Close the connection; using it afterwards is a `StoreError`."""
        self._notice_fork()
        with self._lock, self._plain_errors():
            if self._connection is not None:
                self._connection.close()
            self._connection, self._is_closed = None, True

    @contextmanager
    def read(self) -> Iterator["sqlite3.Connection"]:
        """Yield the connection for reading."""
        self._notice_fork()
        with self._lock, self._plain_errors():
            yield self._connected()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Until it ends, this store reads what stood at its beginning, whatever other processes write."""
        with self.read() as connection:
            if connection.in_transaction:
                yield
                return
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_master")  # BEGIN alone fixes no moment
            self._is_snapshot = True
            try:
                yield
            finally:
                self._is_snapshot = False
                connection.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator["sqlite3.Connection"]:
        """Yield the connection inside one write transaction; an inner one is part of the outer one.

        Any exception undoes all that was done inside the block that it leaves.
        """
        self._notice_fork()
        with self._lock, self._plain_errors():
            connection, owner = self._connected(), self._pid
            if self._is_snapshot:
                raise StoreError(f"store {self.path!r}: a snapshot is for reading; write after it")
            begin, keep, undo = _OUTER if not connection.in_transaction else _INNER
            try:
                connection.execute(begin)
                yield connection
                # A child forked inside the block must not end its parent's transaction.
                if os.getpid() == owner:
                    connection.execute(keep)
            except BaseException:
                if os.getpid() == owner and connection.in_transaction:
                    for statement in undo:
                        connection.execute(statement)
                raise

    def _notice_fork(self) -> None:
        """In a forked child: leave the parent's connection and lock alone, and start with new ones."""
        if self._pid != os.getpid():
            if self._connection is not None:
                _abandoned.append(self._connection)
            # Another thread of the parent may have held the lock; here nobody would ever release it.
            self._connection, self._lock, self._pid = None, threading.RLock(), os.getpid()
            self._is_snapshot = False

    def _connected(self) -> "sqlite3.Connection":
        if self._is_closed:
            raise StoreError(f"store {self.path!r} is closed; open it again")
        if self._connection is None:
            if self.path == ":memory:":
                raise StoreError("a store in memory cannot be used by a forked child; give it a file")
            self._open()
        assert self._connection is not None
        return self._connection

    def _open(self) -> None:
        import sqlite3

        with self._plain_errors():
            connection = sqlite3.connect(
                self._file, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection

    def _prepare(self, connection: "sqlite3.Connection") -> None:
        connection.execute(f"PRAGMA busy_timeout = {int(WAIT_SECONDS * 1000)}")
        # Deleted text (an answered question, an old checkpoint) is overwritten, not merely unlinked.
        connection.execute("PRAGMA secure_delete = ON")
        known = _version_of(connection, self.path)  # before anything that writes: the file may be foreign
        if self.path != ":memory:":
            _to_wal(connection)
        full = self._durability is Durability.POWER
        connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
        connection.execute(f"PRAGMA fullfsync = {int(full)}")
        if known != VERSION:
            connection.execute("BEGIN IMMEDIATE")
            try:
                # Another process may have come first while this one waited.
                if _version_of(connection, self.path) == 0:
                    for statement in self._schema:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.OperationalError as error:
            said = str(error)
            if "locked" in said or "busy" in said:
                remedy = f"another process has held it for {WAIT_SECONDS:g} s; find out which, then try again"
            elif "full" in said or "I/O" in said:
                remedy = "make room on the disk, or look after it; nothing was written"
            elif "readonly" in said:
                remedy = "it is read-only; give write access, or copy it elsewhere"
            elif "unable to open" in said:
                remedy = "check that the folder exists and can be written"
            else:
                remedy = "see the message"
            raise StoreError(f"store {self.path!r}: {said}; {remedy}") from error
        except sqlite3.Error as error:
            # SQLite has no class of its own for "malformed" and "not a database".
            if type(error) is sqlite3.DatabaseError:
                raise _damaged(self.path, str(error)) from error
            raise StoreError(f"store {self.path!r}: {error}; nothing was written") from error


def _checked_path(path: str | os.PathLike[str]) -> str:
    named = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(named, str) or not named.strip() or "\0" in named:
        raise InputError(f"store path {path!r} is no file name; give a path as text, or ':memory:'")
    return named


def _check_file(path: Path) -> None:
    """Refuse what is no store before SQLite touches it: a foreign file is never written to."""
    if not path.parent.is_dir():
        raise InputError(f"store {str(path)!r}: there is no folder {str(path.parent)!r}; make it first")
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(f"store {str(path)!r} is no file; name a file")
    with path.open("rb") as file:
        head = file.read(100)
    wal = path.with_name(path.name + "-wal")
    has_log = wal.exists() and wal.stat().st_size > 0
    if not head:
        # SQLite would throw the log away, and with it what nobody has copied yet. The size is looked at
        # again, since another process may have been making the store just now.
        if has_log and not path.stat().st_size:
            raise _damaged(str(path), "empty, while a log stands beside it")
        return
    if len(head) < 100 or not head.startswith(_MAGIC):
        raise StoreCorruptError(
            f"{str(path)!r} is no SQLite database; name a store, or a file that does not exist"
        )
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    # While a log stands beside it, the file itself may still be behind what its head says.
    if not has_log and path.stat().st_size < pages * (65536 if page == 1 else page):
        raise _damaged(str(path), f"truncated to {path.stat().st_size} bytes")


def _damaged(path: str, how: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"store {path!r} is damaged ({how}); restore a copy, or save what is left with SQLite's .recover"
    )


def _version_of(connection: "sqlite3.Connection", path: str) -> int:
    """Return the schema version, 0 for an empty database; refuse foreign and newer ones."""
    # One statement, so that all three are of one moment: another process may be making the store.
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application == 0 and version == 0 and tables == 0:
        return 0
    if application != APPLICATION_ID:
        raise StoreCorruptError(f"{path!r} is a database of another program; name a store of harness_kit")
    if version > VERSION:
        raise StoreVersionError(
            f"store {path!r} has schema {version}, this kit reads up to {VERSION}; upgrade harness-kit"
        )
    return int(version)


def _to_wal(connection: "sqlite3.Connection") -> None:
    """Switch to WAL; of several processes that open a new file at once, each waits for its turn."""
    import sqlite3
    import time

    for attempt in range(600):
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            # The busy handler is not asked while the mode changes, so the wait is ours.
            if "locked" not in str(error) or attempt == 599:
                raise
            time.sleep(0.1)
        else:
            if mode == "wal":
                return
            raise StoreError(f"this place cannot hold a store (journal mode {mode!r}); use a local disk")
