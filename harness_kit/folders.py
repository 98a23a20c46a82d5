"""A folder that is held open: everything in it is reached relative to it, never through a link.

Where the system can open relative to a folder's descriptor, the folder stays the same one whatever is
renamed or swapped around it. Elsewhere (Windows) each level is looked at before it is used; a link that is
put there between the look and the use is not seen.
"""

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness_kit.errors import ConfinementError, WorkspaceError

HAS_DESCRIPTORS = {
    os.open,
    os.stat,
    os.mkdir,
    os.unlink,
    os.rename,
    os.rmdir,
} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_COMMON = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LOCK_IS_HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}
_NAMES_ANOTHER_PLACE = 0x20000000
"""The bit of a Windows reparse tag that links and junctions have, and a cloud drive's folders have not."""


class Folder:
    """One open folder. Names are single parts: no slash, already checked."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        """Where it was opened; only for messages, and for systems without descriptors."""
        self._descriptor = descriptor

    @classmethod
    def root(cls, path: Path, *, descriptors: bool = HAS_DESCRIPTORS) -> "Folder":
        """Open a folder that is itself no link; `ConfinementError` for anything else."""
        if not descriptors:
            folder = cls(path, None)
            folder._look(path)
            return folder
        try:
            return cls(path, os.open(path, _FOLDER | _COMMON))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _refusal(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the folder go."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def identity(self) -> tuple[int, int]:
        """Return device and inode, which stay while the folder is the same one."""
        found = os.fstat(self._descriptor) if self._descriptor is not None else self.path.lstat()
        return found.st_dev, found.st_ino

    def sub(self, name: str, *, create: bool = False) -> "Folder":
        """Open a folder inside this one, never through a link; with `create`, make it if it is not there."""
        if create and self.stat(name) is None:
            target, where = self._at(name)
            with contextlib.suppress(FileExistsError):
                os.mkdir(target, 0o777, **where)
            self.sync()  # else what is forced to the disk inside it could lie in a folder that is not there
        if self._descriptor is None:
            self._look(self.path / name)
            return Folder(self.path / name, None)
        try:
            return Folder(self.path / name, os.open(name, _FOLDER | _COMMON, dir_fd=self._descriptor))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _refusal(self.path / name, error) from error

    def walk(self, parts: list[str], *, create: bool = False) -> "Folder":
        """Open the folder at `parts` below this one; the caller closes it."""
        here = self.again()
        for part in parts:
            try:
                inner = here.sub(part, create=create)
            finally:
                here.close()
            here = inner
        return here

    def read_below(self, name: str) -> bytes | None:
        """Return the bytes of `name`, which may have slashes, or None where it is not there."""
        *parts, leaf = name.split("/")
        try:
            with self.walk(parts) as folder:
                return folder.read(leaf)
        except FileNotFoundError:
            return None

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the folders that `names`, which may have slashes, still lack; outer ones first."""
        lacking: dict[str, None] = {}
        for name in names:
            parts = name.split("/")[:-1]
            for end in range(1, len(parts) + 1):
                try:
                    self.walk(parts[:end]).close()
                except FileNotFoundError:
                    lacking["/".join(parts[:end])] = None
        return list(lacking)

    def again(self) -> "Folder":
        """Return this folder once more, to be closed by itself."""
        return Folder(self.path, None if self._descriptor is None else os.dup(self._descriptor))

    def stat(self, name: str) -> os.stat_result | None:
        """Return what lies at `name`, not following a link; None where nothing does."""
        target, where = self._at(name)
        try:
            return os.stat(target, follow_symlinks=False, **where)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Return what lies in the folder, sorted."""
        return sorted(os.listdir(self.path if self._descriptor is None else self._descriptor))

    def read(self, name: str) -> bytes:
        """Return the bytes of a plain file; links, pipes, devices and folders are refused unopened."""
        self._must_be_plain(name)
        target, where = self._at(name)
        # Not blocking, in case a pipe was put there since the look.
        flags = os.O_RDONLY | _NOFOLLOW | _COMMON | getattr(os, "O_NONBLOCK", 0)
        try:
            descriptor = os.open(target, flags, **where)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise WorkspaceError(f"{str(self.path / name)!r} cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfinementError(f"{str(self.path / name)!r} is no plain file; replace it by one")
            return file.read()

    def write_new(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Make a file that is not there yet, and force its bytes to the disk.

        Without permission bits in `mode` it gets those of any new file.
        """
        target, where = self._at(name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _COMMON
        # Private until it is whole, so that a private text is not open to others for a moment.
        descriptor = os.open(target, flags, 0o666 if mode is None else 0o600, **where)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if mode is not None:
                os.chmod(file.fileno() if os.chmod in os.supports_fd else target, mode)
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def locked(self, name: str, timeout: float) -> Iterator[None]:
        """Hold the lock file `name`, made if it is not there; `WorkspaceError` after `timeout` seconds."""
        target, where = self._at(name)
        descriptor = os.open(target, os.O_RDWR | os.O_CREAT | _NOFOLLOW | _COMMON, 0o666, **where)
        try:
            until = time.monotonic() + timeout
            while not _try_lock(descriptor):
                if time.monotonic() >= until:
                    raise WorkspaceError(
                        f"another process has been writing here for {timeout:g} s "
                        f"({str(self.path / name)!r} is locked); let it end, then try again"
                    )
                time.sleep(0.01)
            try:
                yield
            finally:
                _unlock(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, name: str, to: "Folder", new: str) -> None:
        """Move a file over `new` in another folder of the same disk, in one step."""
        if self._descriptor is None or to._descriptor is None:
            os.replace(self.path / name, to.path / new)
        else:
            os.rename(name, new, src_dir_fd=self._descriptor, dst_dir_fd=to._descriptor)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        target, where = self._at(name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target, **where)

    def remove_folder(self, name: str) -> bool:
        """Remove an empty folder; False where it is not empty or not there."""
        target, where = self._at(name)
        try:
            os.rmdir(target, **where)
        except OSError:
            return False
        return True

    def sync(self) -> None:
        """Force the folder's own entries to the disk, where the system can."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def _must_be_plain(self, name: str) -> None:
        found = self.stat(name)
        if found is not None and not stat.S_ISREG(found.st_mode):
            what = "a link" if stat.S_ISLNK(found.st_mode) else "no plain file"
            raise ConfinementError(f"{str(self.path / name)!r} is {what}; replace it by a plain file")

    def _look(self, path: Path) -> None:
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _refusal(path, error) from error
        # On Windows a junction is a folder to the mode bits and a link in fact.
        if not stat.S_ISDIR(mode) or _is_reparse_point(path):
            raise ConfinementError(f"{str(path)!r} is a link or no folder; replace it by a plain folder")

    def _at(self, name: str) -> tuple[str, dict[str, Any]]:
        if self._descriptor is None:
            return str(self.path / name), {}
        return name, {"dir_fd": self._descriptor}


def _is_reparse_point(path: Path) -> bool:
    found: Any = path.lstat()
    return bool(getattr(found, "st_reparse_tag", 0) & _NAMES_ANOTHER_PLACE)


def _refusal(path: Path, error: OSError) -> ConfinementError | WorkspaceError:
    """Say why a folder cannot be opened. BSD systems answer a link with `EMLINK`."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return ConfinementError(f"{str(path)!r} is a link or no folder; replace it by a plain folder")
    return WorkspaceError(f"folder {str(path)!r} cannot be opened: {error.strerror}")


def _try_lock(descriptor: int) -> bool:
    """Take the lock if nobody has it. A disk that knows no locks is an `OSError`, not a long wait."""
    try:
        if sys.platform == "win32":  # pragma: no cover - the other branch runs in the tests
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _LOCK_IS_HELD:
            return False
        raise
    return True


def _unlock(descriptor: int) -> None:
    """Give the lock back for good: closing alone would leave it to a child forked in the meantime."""
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)
