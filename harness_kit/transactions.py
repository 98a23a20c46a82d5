"""The atomic commit of several files, and what is done about one that was cut off.

In `.harness_kit/` of the workspace, for a commit named `key`:

    txn-<key>/0.new 0.old 1.new …   every new text, and a copy of what it replaces, forced to the disk
    txn-<key>/plan.json             names and hashes; from here on all that is needed is on the disk
    txn-<key>/commit.json           the plan, renamed: the commit point. After it the commit is finished
    txn-<key>/undo.json             the plan, renamed: it could not be finished and is being undone
    commits/<key>.json              the plan, renamed: done. Holds names and hashes, no text

A crash before the commit point leaves the old files, one after it is finished by `recover`. Accepted: a
reader who looks between two renames sees new files beside old ones; the marks of finished commits stay.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from harness_kit import canonical
from harness_kit.errors import BaseChangedError, RecoveryError, WorkspaceError
from harness_kit.folders import Folder
from harness_kit.paths import RESERVED_FOLDER

Point = Callable[[str], None]
"""Called at each named point of a commit; the tests cut the process off there."""


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What `recover` found and did."""

    finished: tuple[str, ...]
    """Keys of commits that were past their commit point and are done now."""
    undone: tuple[str, ...]
    """Keys of commits that were not, and left nothing."""


def digest(root: Folder, name: str) -> str | None:
    """Return the SHA-256 of a file's bytes, or None where it is not there."""
    data = read(root, name)
    return None if data is None else canonical.digest_bytes(data)


def read(root: Folder, name: str) -> bytes | None:
    """Return a file's bytes, or None where it is not there."""
    *parts, leaf = name.split("/")
    try:
        with root.walk(parts) as folder:
            return folder.read(leaf)
    except FileNotFoundError:
        return None


def mark_of(root: Folder, key: str) -> dict[str, str] | None:
    """Return name → SHA-256 of a finished commit, or None."""
    data = read(root, f"{RESERVED_FOLDER}/commits/{key}.json")
    if data is None:
        return None
    return {file["name"]: file["new"] for file in json.loads(data)["files"]}


@contextmanager
def locked(root: Folder, timeout: float) -> Iterator[Folder]:
    """Yield the control folder, held by this process alone; `WorkspaceError` after `timeout` seconds."""
    with root.sub(RESERVED_FOLDER, create=True) as control:
        path = str(control.path / "lock")
        descriptor = control.open_lock("lock")
        try:
            until = time.monotonic() + timeout
            while not _try_lock(descriptor):
                if time.monotonic() >= until:
                    raise WorkspaceError(
                        f"another process has been writing here for {timeout:g} s ({path!r} is locked); "
                        "let it end, then try again"
                    )
                time.sleep(0.01)
            yield control
        finally:
            os.close(descriptor)  # gives the lock back, as the end of the process does


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":  # pragma: no cover - the other branch runs in the tests
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def commit_files(
    root: Folder,
    control: Folder,
    key: str,
    files: Mapping[str, bytes],
    base: Mapping[str, str | None],
    at: Point,
) -> None:
    """Replace all `files`, or leave all as they are and raise. The caller holds the lock."""
    name = f"txn-{key}"
    with control.sub("commits", create=True) as commits, control.sub(name, create=True) as txn:
        try:
            at("begun")
            plan = _stage(root, txn, key, files, base, at)
            control.sync()
            at("planned")
            compare(root, base)
            at("compared")
        except BaseException:
            _discard(control, txn, name)
            raise
        txn.rename("plan.json", txn, "commit.json")
        txn.sync()
        at("committed")
        try:
            _apply(root, txn, plan, at)
        except Exception as error:
            _undo_now(root, control, txn, name, plan, error)
            raise
        _finish(control, commits, txn, name, key, at)


def recover(root: Folder, control: Folder, at: Point) -> Recovery:
    """Finish or undo every commit that was cut off. The caller holds the lock."""
    finished, undone = [], []
    for name in control.names():
        key = name.removeprefix("txn-")
        if key == name:
            continue
        with control.sub("commits", create=True) as commits, control.sub(name) as txn:
            there = txn.names()
            if "commit.json" in there:
                plan = json.loads(txn.read("commit.json"))
                try:
                    _apply(root, txn, plan, at)
                except RecoveryError:
                    raise
                except Exception as error:
                    _undo_now(root, control, txn, name, plan, error)
                    undone.append(key)
                else:
                    _finish(control, commits, txn, name, key, at)
                    finished.append(key)
            elif "undo.json" in there:
                _undo(root, txn, json.loads(txn.read("undo.json")))
                _discard(control, txn, name)
                undone.append(key)
            else:
                done = commits.stat(f"{key}.json") is not None
                _discard(control, txn, name)
                (finished if done else undone).append(key)
    return Recovery(finished=tuple(finished), undone=tuple(undone))


def _stage(
    root: Folder, txn: Folder, key: str, files: Mapping[str, bytes], base: Mapping[str, str | None], at: Point
) -> dict[str, Any]:
    planned = []
    for number, (name, data) in enumerate(files.items()):
        txn.write_new(f"{number}.new", data)
        old = read(root, name)
        _must_be(name, None if old is None else canonical.digest_bytes(old), base[name])
        mode = None
        if old is not None:
            txn.write_new(f"{number}.old", old)
            mode = stat.S_IMODE(_stat(root, name).st_mode)
            txn.chmod(f"{number}.new", mode)
            txn.chmod(f"{number}.old", mode)
        planned.append({"name": name, "new": canonical.digest_bytes(data), "old": base[name]})
        at(f"staged {number}")
    plan = {
        "format": "harness_kit.commit.v1",
        "key": key,
        "files": planned,
        "folders": _missing_folders(root, files),
    }
    txn.write_new("plan.json", canonical.dumps(plan))
    txn.sync()
    return plan


def _stat(root: Folder, name: str) -> os.stat_result:
    *parts, leaf = name.split("/")
    with root.walk(parts) as folder:
        found = folder.stat(leaf)
    if found is None:
        raise BaseChangedError(f"{name!r} went away while it was being replaced; look again and ask again")
    return found


def _missing_folders(root: Folder, names: Mapping[str, bytes]) -> list[str]:
    """Return the folders that a commit will make, outer ones first."""
    missing: dict[str, None] = {}
    for name in names:
        parts = name.split("/")[:-1]
        for end in range(1, len(parts) + 1):
            try:
                root.walk(parts[:end]).close()
            except FileNotFoundError:
                missing["/".join(parts[:end])] = None
    return list(missing)


def compare(root: Folder, base: Mapping[str, str | None]) -> None:
    """Raise `BaseChangedError` unless every file is what `base` says."""
    for name, expected in base.items():
        _must_be(name, digest(root, name), expected)


def _must_be(name: str, found: str | None, expected: str | None) -> None:
    """Raise `BaseChangedError` unless the digest found is the one expected."""
    if found != expected:
        raise BaseChangedError(
            f"{name!r} on disk is {_short(found)}, not {_short(expected)} "
            "as it was when looked at; look again"
        )


def _short(hashed: str | None) -> str:
    return "absent" if hashed is None else f"{hashed[:12]}…"


def _apply(root: Folder, txn: Folder, plan: Mapping[str, Any], at: Point) -> None:
    """Put every new file in its place, force that to the disk, and read it back. Can be done again."""
    for number, file in enumerate(plan["files"]):
        *parts, leaf = file["name"].split("/")
        with root.walk(parts, create=True) as folder:
            now = digest(root, file["name"])
            if now != file["new"]:
                if now != file["old"] or txn.stat(f"{number}.new") is None:
                    raise RecoveryError(
                        f"{file['name']!r} was changed by somebody else amid a commit; its new text lies "
                        f"in {str(txn.path)!r}: put the file right by hand, remove that folder, and ask again"
                    )
                txn.rename(f"{number}.new", folder, leaf)
            folder.sync()
        at(f"renamed {number}")
    root.sync()
    at("synced")
    for file in plan["files"]:
        if digest(root, file["name"]) != file["new"]:
            raise WorkspaceError(f"{file['name']!r} read back is not what was written; check the disk")
    at("read back")


def _finish(control: Folder, commits: Folder, txn: Folder, name: str, key: str, at: Point) -> None:
    txn.rename("commit.json", commits, f"{key}.json")
    commits.sync()
    at("marked")
    _discard(control, txn, name)
    at("cleaned")


def _undo_now(
    root: Folder, control: Folder, txn: Folder, name: str, plan: Mapping[str, Any], cause: Exception
) -> None:
    try:
        txn.rename("commit.json", txn, "undo.json")
        _undo(root, txn, plan)
    except Exception as error:
        raise RecoveryError(
            f"a commit failed ({cause}) and could not be undone ({error}); old and new texts lie in "
            f"{str(txn.path)!r}: mend the cause, then call recover()"
        ) from cause
    _discard(control, txn, name)


def _undo(root: Folder, txn: Folder, plan: Mapping[str, Any]) -> None:
    """Put every old file back in its place and take the new ones away. Can be done again."""
    for number, file in enumerate(plan["files"]):
        *parts, leaf = file["name"].split("/")
        if digest(root, file["name"]) != file["new"] or file["new"] == file["old"]:
            continue
        with root.walk(parts) as folder:
            if file["old"] is None:
                folder.remove(leaf)
            else:
                txn.rename(f"{number}.old", folder, leaf)
            folder.sync()
    for path in reversed(plan["folders"]):
        *parts, leaf = path.split("/")
        try:
            with root.walk(parts) as folder:
                folder.remove_folder(leaf)
        except FileNotFoundError:
            continue


def _discard(control: Folder, txn: Folder, name: str) -> None:
    """Remove a transaction's folder; what cannot be removed now is removed by the next recover."""
    for file in txn.names():
        txn.remove(file)
    control.remove_folder(name)
