"""A workspace: the named files under one folder that a piece of work may read or write, and no others.

    workspace = Workspace("work", readable={"notes.txt"}, writable={"report.md"})
    workspace.read_text("notes.txt")
    workspace.replace({"report.md": text}, base={"report.md": None}, key=fingerprint)

Nothing is reached through a link. Several files are replaced all or none, also across `kill -9`: see
`transactions`. Whoever writes should come through `approval.commit`, which calls `replace`.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from harness_kit import canonical, transactions
from harness_kit.errors import ConfinementError, InputError, WorkspaceError
from harness_kit.folders import HAS_DESCRIPTORS, Folder
from harness_kit.paths import RESERVED_FOLDER, check_name, check_names, fold
from harness_kit.transactions import Recovery


@dataclass(frozen=True, kw_only=True)
class Replaced:
    """A finished commit of files."""

    key: str
    files: Mapping[str, str]
    """SHA-256 of each file, as read back from the disk."""
    already: bool
    """True where an earlier call had done it and this one touched nothing."""


class Workspace:
    """Confined reads and atomic writes under one folder."""

    def __init__(
        self, root: str | os.PathLike[str], *, readable: Iterable[str] = (), writable: Iterable[str] = ()
    ) -> None:
        if not os.fspath(root):
            raise ConfinementError("root is empty; name a folder, '.' for the present one")
        self.root = Path(root).absolute()
        self.readable = check_names(readable)
        self.writable = check_names(writable)
        check_names(self.readable | self.writable)
        self.lock_timeout = 30.0
        """Seconds to wait for another process that is writing here."""
        self._descriptors = HAS_DESCRIPTORS
        self._at: Callable[[str], None] = lambda point: None
        try:
            with Folder.root(self.root, descriptors=self._descriptors) as folder:
                self._identity = folder.identity()
        except FileNotFoundError:
            raise ConfinementError(f"{str(self.root)!r} is not there; make the folder first") from None
        self.identity = canonical.fingerprint({"workspace": os.path.realpath(self.root)})
        """What an approval is bound to: the folder's real place (64 hex digits)."""

    def __repr__(self) -> str:
        named = f"readable={sorted(self.readable)}, writable={sorted(self.writable)}"
        return f"Workspace({str(self.root)!r}, {named})"

    def narrowed(self, *, readable: Iterable[str] = (), writable: Iterable[str] = ()) -> "Workspace":
        """Return the same folder with these permissions, each of which this workspace must have itself."""
        inner = Workspace(self.root, readable=readable, writable=writable)
        more = sorted((inner.readable - self.readable - self.writable) | (inner.writable - self.writable))
        if more:
            raise ConfinementError(f"{more[0]!r} is beyond what this workspace may touch; allow it first")
        if inner._identity != self._identity:
            raise ConfinementError(f"{str(self.root)!r} is not the folder that it was; make a new workspace")
        inner._descriptors, inner._at, inner.lock_timeout = self._descriptors, self._at, self.lock_timeout
        return inner

    def read_bytes(self, name: str) -> bytes:
        """Return a file's bytes; the name must be readable or writable here."""
        self._allow(name, self.readable | self.writable, "read")
        with self._open() as root:
            data = root.read_below(name)
        if data is None:
            raise InputError(f"there is no {name!r} in {str(self.root)!r}; it has not been written yet")
        return data

    def read_text(self, name: str) -> str:
        """Return a file's text, strictly UTF-8, with its line ends as they are."""
        data = self.read_bytes(name)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{name!r} is not UTF-8 at byte {error.start}; save it as UTF-8") from error

    def exists(self, name: str) -> bool:
        """Say whether a file is there."""
        return self.digest(name) is not None

    def digest(self, name: str) -> str | None:
        """Return the SHA-256 of a file's bytes (64 hex digits), or None where it is not there."""
        self._allow(name, self.readable | self.writable, "read")
        with self._open() as root:
            return transactions.digest(root, name)

    def check_writable(self, names: Iterable[str]) -> None:
        """Raise `ConfinementError` unless every name may be written here, now; nothing is touched."""
        wanted = check_names(names)
        for name in wanted:
            self._allow(name, self.writable, "write")
        with self._open() as root:
            for name in wanted:
                _check_place(root, name)

    def replace(
        self, files: Mapping[str, str | bytes], *, base: Mapping[str, str | None], key: str
    ) -> Replaced:
        """Write all `files` or none. `base` is the SHA-256 that each replaces, None where it must be absent.

        `key` (64 hex digits) names the commit: done already, it touches nothing and says so. Raises
        `BaseChangedError` where a file is not what `base` says, `WorkspaceError` where the disk refuses; in
        both cases every file is as before.
        """
        _check_key(key)
        names, seen = check_names(files), check_names(base)
        if not names or names != seen:
            raise InputError(
                f"files {sorted(names)} and base {sorted(seen)} differ; give one base for each file"
            )
        for name, hashed in base.items():
            if hashed is not None and not transactions.is_digest(hashed):
                raise InputError(f"base of {name!r} is {hashed!r}; give what digest() returned, or None")
        data = {name: _bytes(name, content) for name, content in files.items()}
        wanted = {name: canonical.digest_bytes(content) for name, content in data.items()}
        self.check_writable(data)
        with self._open() as root, self._plain_errors():
            if root.stat(RESERVED_FOLDER) is None:
                transactions.compare(root, base)  # the first refusal here shall not even make the folder
            with transactions.locked(root, self.lock_timeout) as control:
                # First, since what a crash left may be this very commit, half done.
                transactions.recover(root, control, self._at)
                done = self._done(root, key, wanted)
                if done is not None:
                    return done
                transactions.compare(root, base)
                transactions.commit_files(root, control, key, data, base, self._at)
        return Replaced(key=key, files=MappingProxyType(wanted), already=False)

    def replaced(self, key: str) -> Replaced | None:
        """Return what a finished commit wrote, or None where there is none of that key."""
        _check_key(key)
        with self._open() as root:
            files = transactions.mark_of(root, key)
        return None if files is None else Replaced(key=key, files=MappingProxyType(files), already=True)

    def recover(self) -> Recovery:
        """Finish or undo what a crash left half done; `replace` does this first too."""
        with self._open() as root, self._plain_errors():
            if root.stat(RESERVED_FOLDER) is None:
                return Recovery(finished=(), undone=())
            with transactions.locked(root, self.lock_timeout) as control:
                return transactions.recover(root, control, self._at)

    @contextmanager
    def _open(self) -> Iterator[Folder]:
        """Open the folder and make sure that it is the one that this workspace was made for."""
        try:
            folder = Folder.root(self.root, descriptors=self._descriptors)
        except FileNotFoundError:
            raise ConfinementError(f"{str(self.root)!r} is gone; make a new workspace") from None
        with folder:
            if folder.identity() != self._identity:
                raise ConfinementError(
                    f"{str(self.root)!r} is another folder than it was; make a new workspace"
                )
            yield folder

    def _allow(self, name: str, allowed: frozenset[str], act: str) -> None:
        if check_name(name) not in allowed:
            there = ", ".join(sorted(allowed)) or "nothing"
            raise ConfinementError(f"{name!r} may not be {act} here; allowed: {there}")

    def _done(self, root: Folder, key: str, wanted: Mapping[str, str]) -> Replaced | None:
        files = transactions.mark_of(root, key)
        if files is None:
            return None
        if files != wanted:
            raise WorkspaceError(f"commit {key[:12]}… is done and wrote other text; use another key")
        return Replaced(key=key, files=MappingProxyType(files), already=True)

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = {
                errno.ENOSPC: "the disk is full; make room",
                errno.EDQUOT: "your quota is used up; make room",
                errno.EROFS: "the disk is read-only; give write access",
                errno.EACCES: "access is denied or the file is in use; give write access or close it",
                errno.EPERM: "access is denied; give write access",
            }.get(error.errno or 0, error.strerror or str(error))
            raise WorkspaceError(f"nothing was changed in {str(self.root)!r}: {why}") from error


def _check_key(key: str) -> None:
    if not transactions.is_digest(key):
        raise InputError(f"commit key {key!r} is not 64 hex digits; use a fingerprint")


def _bytes(name: str, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    if not isinstance(content, str):
        raise InputError(f"content of {name!r} is {type(content).__name__}; expected str or bytes")
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"content of {name!r} holds a lone surrogate at index {error.start}; decode it as UTF-8 first"
        ) from error


def _check_place(root: Folder, name: str) -> None:
    """Refuse links, other things than files, and case twins on the way to `name`."""
    parts = name.split("/")
    here = root.again()
    try:
        for index, part in enumerate(parts):
            for other in here.names():
                if other != part and fold(other) == fold(part):
                    raise ConfinementError(
                        f"{str(here.path / other)!r} is there, and {name!r} would be the same file where "
                        "case does not count; use that name or rename it"
                    )
            found = here.stat(part)
            if found is None:
                return
            if index == len(parts) - 1:
                if not stat.S_ISREG(found.st_mode):
                    what = "a link" if stat.S_ISLNK(found.st_mode) else "no plain file"
                    raise ConfinementError(f"{name!r} is {what} on disk; replace it by a plain file")
                return
            inner = here.sub(part)
            here.close()
            here = inner
    finally:
        here.close()
