"""The atomic commit of several files, and what is done about one that was cut off.

In `.harness_kit/` of the workspace, for a commit named `key`:

    txn-<key>/0.new 0.old 1.new …   every new text, and a copy of what it replaces, forced to the disk
    txn-<key>/plan.json             names and hashes; from here on all that is needed is on the disk
    txn-<key>/commit.json           the plan, renamed: the commit point. After it the commit is finished
    txn-<key>/undo.json             the plan, renamed: it could not be finished and is being undone
    commits/<key>.json              the plan, renamed: done. Holds names and hashes, no text

A crash before the commit point leaves the old files, one after it is finished by `recover`. Accepted: a
reader who looks between two renames sees new files beside old ones; a program that takes no lock and writes
a file in the instant between our last look at it and its rename loses that edit; a file put back by an undo
has its old bytes and permission bits, not its old times; the marks of finished commits stay.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from harness_kit import canonical
from harness_kit.errors import BaseChangedError, RecoveryError
from harness_kit.folders import Folder
from harness_kit.paths import RESERVED_FOLDER, check_name, check_names

FORMAT = "harness_kit.commit.v1"
_DIGEST = re.compile(r"[0-9a-f]{64}")

Point = Callable[[str], None]
"""Called at each named point of a commit; the tests cut the process off there."""


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What `recover` found and did."""

    finished: tuple[str, ...]
    """Keys of commits that were past their commit point and are done now."""
    undone: tuple[str, ...]
    """Keys of commits that were not, and left nothing."""


def is_digest(value: object) -> bool:
    """Say whether a value is a SHA-256 as this kit writes it: 64 hex digits in lower case."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


class _EditedError(RecoveryError):
    """A file is neither what the commit was to replace nor what it was to write."""

    def __init__(self, name: str, txn: Folder) -> None:
        super().__init__(
            f"{name!r} was changed by somebody else amid a commit; its new text lies in "
            f"{str(txn.path)!r}: put the file right by hand, remove that folder, and ask again"
        )
        self.name = name


def digest(root: Folder, name: str) -> str | None:
    """Return the SHA-256 of a file's bytes, or None where it is not there."""
    data = root.read_below(name)
    return None if data is None else canonical.digest_bytes(data)


def mark_of(root: Folder, key: str) -> dict[str, str] | None:
    """Return name → SHA-256 of a finished commit, or None."""
    try:
        with root.walk([RESERVED_FOLDER, "commits"]) as commits:
            plan = _plan(commits, f"{key}.json", key)
    except FileNotFoundError:
        return None
    return {file["name"]: file["new"] for file in plan["files"]}


def _plan(folder: Folder, name: str, key: str) -> dict[str, Any]:
    """Read a plan and believe nothing in it: whoever can write here must not lead us out of the root."""
    data = folder.read(name)
    try:
        plan: dict[str, Any] = canonical.loads(data)
        check_names(file["name"] for file in plan["files"])
        hashes = [file["new"] for file in plan["files"]]
        hashes += [file["old"] for file in plan["files"] if file["old"] is not None]
        whole = all(is_digest(hashed) for hashed in hashes)
        for path in plan["folders"]:
            check_name(path)
        if (plan["format"], plan["key"], whole) != (FORMAT, key, True):
            raise ValueError("it is for another commit, or its hashes are none")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecoveryError(
            f"{str(folder.path / name)!r} is not a plan that this kit wrote ({error}); nothing was touched: "
            "look at what lies there, then move it away"
        ) from error
    return plan


@contextmanager
def locked(root: Folder, timeout: float) -> Iterator[Folder]:
    """Yield the control folder, held by this process alone; `WorkspaceError` after `timeout` seconds."""
    with root.sub(RESERVED_FOLDER, create=True) as control, control.locked("lock", timeout):
        yield control


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
            at("planned")
            compare(root, base)
            at("compared")
        except BaseException:
            _discard(control, txn, name)
            raise
        try:
            txn.rename("plan.json", txn, "commit.json")
            txn.sync()
            at("committed")
            _finish(root, commits, txn, plan, at)
        except Exception as error:
            if isinstance(error, RecoveryError) and not isinstance(error, _EditedError):
                raise
            _undo_now(root, commits, txn, plan, at, error)
            _discard(control, txn, name)
            if isinstance(error, _EditedError):
                raise BaseChangedError(
                    f"{error.name!r} was changed by somebody else amid the commit; their text stays and "
                    "nothing of ours does: look again"
                ) from error
            raise
        _discard(control, txn, name)
        at("cleaned")


def recover(root: Folder, control: Folder, at: Point) -> Recovery:
    """Finish or undo every commit that was cut off. The caller holds the lock."""
    finished: list[str] = []
    undone: list[str] = []
    for name in control.names():
        key = name.removeprefix("txn-")
        if key == name:
            continue
        with control.sub("commits", create=True) as commits, control.sub(name) as txn:
            there = txn.names()
            done = commits.stat(f"{key}.json") is not None
            if "commit.json" in there:
                plan = _plan(txn, "commit.json", key)
                try:
                    _finish(root, commits, txn, plan, at)
                    done = True
                except RecoveryError:
                    raise
                except Exception as error:
                    _undo_now(root, commits, txn, plan, at, error)
            elif "undo.json" in there:
                _undo(root, txn, _plan(txn, "undo.json", key), at)
            _discard(control, txn, name)
            (finished if done else undone).append(key)
    return Recovery(finished=tuple(finished), undone=tuple(undone))


def _stage(
    root: Folder, txn: Folder, key: str, files: Mapping[str, bytes], base: Mapping[str, str | None], at: Point
) -> dict[str, Any]:
    planned = []
    for number, (name, data) in enumerate(files.items()):
        old = root.read_below(name)
        _must_be(name, None if old is None else canonical.digest_bytes(old), base[name])
        # Not the set-user bits: they would pass to whoever writes now.
        mode = None if old is None else stat.S_IMODE(_stat(root, name).st_mode) & 0o777
        txn.write_new(f"{number}.new", data, mode)
        if old is not None:
            txn.write_new(f"{number}.old", old, mode)
        planned.append({"name": name, "new": canonical.digest_bytes(data), "old": base[name]})
        at(f"staged {number}")
    plan = {
        "format": FORMAT,
        "key": key,
        "files": planned,
        "folders": root.missing(files),
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


def _finish(root: Folder, commits: Folder, txn: Folder, plan: Mapping[str, Any], at: Point) -> None:
    """Put every new file in its place, force it to the disk, read it back, mark. Can be done again."""
    for number, file in enumerate(plan["files"]):
        *parts, leaf = file["name"].split("/")
        with root.walk(parts, create=True) as folder:
            now = digest(root, file["name"])
            if now != file["new"]:
                if now != file["old"] or txn.stat(f"{number}.new") is None:
                    raise _EditedError(file["name"], txn)
                txn.rename(f"{number}.new", folder, leaf)
            folder.sync()
        at(f"renamed {number}")
    root.sync()
    at("synced")
    for file in plan["files"]:
        if digest(root, file["name"]) != file["new"]:
            # Not undone: was it the disk and no editor, then our copy of the old text is the only one.
            raise RecoveryError(
                f"{file['name']!r} read back is not what was written; what the commit replaced lies in "
                f"{str(txn.path)!r}: put the files right by hand, remove that folder, and ask again"
            )
    at("read back")
    txn.rename("commit.json", commits, f"{plan['key']}.json")
    commits.sync()
    at("marked")


def _undo_now(
    root: Folder, commits: Folder, txn: Folder, plan: Mapping[str, Any], at: Point, cause: Exception
) -> None:
    """Undo a commit that failed at or after its commit point, wherever its plan lies by now."""
    try:
        for folder, name in ((txn, "plan.json"), (txn, "commit.json"), (commits, f"{plan['key']}.json")):
            if folder.stat(name) is not None:
                folder.rename(name, txn, "undo.json")
        # On the disk before the first file goes back, else a loss of power would find a commit to finish.
        txn.sync()
        commits.sync()
        _undo(root, txn, plan, at)
    except Exception as error:
        raise RecoveryError(
            f"a commit failed ({cause}) and could not be undone ({error}); old and new texts lie in "
            f"{str(txn.path)!r}: mend the cause, then call recover()"
        ) from cause


def _undo(root: Folder, txn: Folder, plan: Mapping[str, Any], at: Point) -> None:
    """Put every old file back in its place and take the new ones away. Can be done again."""
    for number, file in enumerate(plan["files"]):
        *parts, leaf = file["name"].split("/")
        if digest(root, file["name"]) == file["new"] != file["old"]:
            with root.walk(parts) as folder:
                if file["old"] is None:
                    folder.remove(leaf)
                else:
                    txn.rename(f"{number}.old", folder, leaf)
                folder.sync()
        at(f"undone {number}")
    for path in reversed(plan["folders"]):
        *parts, leaf = path.split("/")
        try:
            with root.walk(parts) as folder:
                folder.remove_folder(leaf)
        except FileNotFoundError:
            continue
    # Before the copies, and failing aloud: read once more it could take away what a later commit wrote.
    txn.remove("undo.json")
    txn.sync()


def _discard(control: Folder, txn: Folder, name: str) -> None:
    """Remove a transaction's folder; what cannot be removed now is removed by the next recover."""
    for file in txn.names():
        with suppress(OSError):
            txn.remove(file)
    control.remove_folder(name)
