"""The workspace: what it may touch, what it refuses, and that a refusal or failure changes nothing."""

import contextlib
import errno
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_kit import folders
from harness_kit.canonical import digest_bytes, fingerprint
from harness_kit.errors import BaseChangedError, ConfinementError, InputError, RecoveryError, WorkspaceError
from harness_kit.workspace import Workspace

KEY, OTHER = fingerprint("one"), fingerprint("two")
NAMES = {"a.md", "b.md", "notes/c.md"}


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def ws(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """A workspace, once with directory descriptors and once as on systems that have none."""
    (tmp_path / "work").mkdir()
    made = Workspace(tmp_path / "work", readable={"in.txt"}, writable=NAMES)
    made._descriptors = request.param
    return made


def disk(folder: Path) -> dict[str, Any]:
    """Everything below `folder` but the workspace's own bookkeeping."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if ".harness_kit" in path.parts:
            continue
        found[name] = (
            path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
        )
    return found


def leftovers(ws: Workspace) -> list[str]:
    control = ws.root / ".harness_kit"
    return (
        [path.name for path in control.iterdir() if path.name.startswith("txn")] if control.exists() else []
    )


def absent(*names: str) -> dict[str, str | None]:
    return dict.fromkeys(names)


def test_files_are_written_whole_in_folders_that_are_made(ws: Workspace) -> None:
    done = ws.replace(
        {"a.md": "가\r\n", "notes/c.md": b"\x00\xff"}, base=absent("a.md", "notes/c.md"), key=KEY
    )
    assert (ws.root / "a.md").read_bytes() == "가\r\n".encode()
    assert ws.read_bytes("notes/c.md") == b"\x00\xff"
    assert ws.read_text("a.md") == "가\r\n", "line ends are left as they are"
    assert done.files == {"a.md": digest_bytes("가\r\n".encode()), "notes/c.md": digest_bytes(b"\x00\xff")}
    assert leftovers(ws) == []


def test_only_named_files_are_read_or_written(ws: Workspace) -> None:
    (ws.root / "in.txt").write_text("in")
    (ws.root / "secret.txt").write_text("secret")
    assert ws.read_text("in.txt") == "in"
    for name in ("secret.txt", "../" + ws.root.name + "/in.txt", str(ws.root / "in.txt"), "in.txt/"):
        with pytest.raises(ConfinementError):
            ws.read_bytes(name)
    with pytest.raises(ConfinementError, match="may not be write"):
        ws.replace({"in.txt": "x"}, base={"in.txt": None}, key=KEY)
    with pytest.raises(InputError, match="has not been written yet"):
        ws.read_text("a.md")
    (ws.root / "a.md").write_bytes(b"abc\xffdef")
    with pytest.raises(InputError, match="not UTF-8 at byte 3"):
        ws.read_text("a.md")


@pytest.mark.parametrize("name", ["../x", "/x", "a\\b", "con", "e\u0301", "x\u202e", "A.MD"])
def test_a_name_that_leads_elsewhere_makes_no_workspace(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfinementError):
        Workspace(tmp_path, readable={"a.md"}, writable={name})
    with pytest.raises(ConfinementError):
        Workspace(tmp_path, writable="a.md")


def test_the_root_is_a_folder_and_no_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in ("file", "link", "nowhere"):
        with pytest.raises(ConfinementError):
            Workspace(tmp_path / name)


def test_a_second_file_that_may_not_be_written_keeps_the_first_one_unwritten(ws: Workspace) -> None:
    with pytest.raises(ConfinementError):
        ws.replace({"a.md": "x", "other.md": "y"}, base=absent("a.md", "other.md"), key=KEY)
    assert disk(ws.root) == {} and not (ws.root / ".harness_kit").exists()


def link_to(outside: Path) -> dict[str, Callable[[Path], None]]:
    return {
        "file link": lambda root: (root / "a.md").symlink_to(outside / "target"),
        "dangling link": lambda root: (root / "a.md").symlink_to(outside / "nowhere"),
        "folder link": lambda root: (root / "notes").symlink_to(outside),
        "folder in place of a file": lambda root: (root / "a.md").mkdir(),
        "file in place of a folder": lambda root: (root / "notes").write_text("x"),
        "pipe": lambda root: os.mkfifo(root / "a.md"),
        "case twin": lambda root: (root / "A.md").write_text("twin"),
        "decomposed twin": lambda root: None,
    }


@pytest.mark.parametrize("what", link_to(Path()))
def test_what_is_no_plain_file_is_neither_read_nor_written(ws: Workspace, tmp_path: Path, what: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target").write_text("theirs")
    (outside / "c.md").write_text("theirs")
    if what == "decomposed twin":
        (ws.root / "e\u0301").write_text("twin")
        ws = Workspace(ws.root, writable={"\u00e9", "a.md"})
    link_to(outside)[what](ws.root)
    before = disk(tmp_path) if what != "pipe" else None
    name = "notes/c.md" if "folder" in what and "in place of a file" not in what else "a.md"
    name = "\u00e9" if what == "decomposed twin" else name
    with pytest.raises(ConfinementError):
        ws.replace({name: "mine"}, base={name: None}, key=KEY)
    if "twin" not in what:
        with pytest.raises((ConfinementError, InputError)):
            ws.read_bytes(name)
    assert (disk(tmp_path) if what != "pipe" else None) == before


def test_a_base_that_is_not_what_was_seen_stops_all_files(ws: Workspace) -> None:
    (ws.root / "b.md").write_text("somebody's")
    for base in ({"a.md": None, "b.md": None}, {"a.md": "0" * 64, "b.md": digest_bytes(b"somebody's")}):
        with pytest.raises(BaseChangedError, match="look again"):
            ws.replace({"a.md": "mine", "b.md": "mine"}, base=base, key=KEY)
    assert disk(ws.root) == {"b.md": b"somebody's"}
    assert not (ws.root / ".harness_kit").exists(), "a refusal makes nothing"


def test_a_finished_commit_is_known_by_its_key_and_not_done_again(ws: Workspace) -> None:
    ws.replace({"a.md": "one"}, base=absent("a.md"), key=KEY)
    inode = (ws.root / "a.md").stat().st_ino
    again = ws.replace({"a.md": "one"}, base=absent("a.md"), key=KEY)
    assert again.already and (ws.root / "a.md").stat().st_ino == inode
    assert ws.replaced(KEY) == again and ws.replaced(OTHER) is None
    with pytest.raises(WorkspaceError, match="wrote other text"):
        ws.replace({"a.md": "two"}, base=absent("a.md"), key=KEY)
    assert "one" not in (ws.root / ".harness_kit" / "commits" / f"{KEY}.json").read_text(), (
        "a mark holds no text"
    )
    for key in ("", "x" * 64, KEY.upper(), "../" + KEY):
        with pytest.raises(InputError, match="64 hex digits"):
            ws.replace({"a.md": "one"}, base=absent("a.md"), key=key)


def test_permission_bits_of_a_replaced_file_stay(ws: Workspace) -> None:
    (ws.root / "a.md").write_text("old")
    (ws.root / "a.md").chmod(0o640)
    ws.replace({"a.md": "new"}, base={"a.md": digest_bytes(b"old")}, key=KEY)
    assert (ws.root / "a.md").stat().st_mode & 0o777 == 0o640


def test_a_commit_breaks_a_hard_link_and_the_other_name_keeps_its_bytes(
    ws: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "other").write_text("shared")
    os.link(tmp_path / "other", ws.root / "a.md")
    assert ws.read_text("a.md") == "shared"
    ws.replace({"a.md": "mine"}, base={"a.md": digest_bytes(b"shared")}, key=KEY)
    assert (tmp_path / "other").read_text() == "shared"
    assert (ws.root / "a.md").read_text() == "mine"


@pytest.mark.parametrize("point", ["begun", "staged 0", "planned", "compared", "committed", "renamed 0"])
@pytest.mark.parametrize("what", ["root", "folder"])
def test_a_folder_swapped_for_a_link_amid_a_commit_leaves_what_lies_outside_alone(
    tmp_path: Path, point: str, what: str
) -> None:
    """With descriptors, whatever is swapped: the bytes go where they were to go, or nowhere."""
    if not folders.HAS_DESCRIPTORS:
        pytest.skip("this system has no directory descriptors")
    root, outside = tmp_path / "work", tmp_path / "outside"
    (root / "notes").mkdir(parents=True)
    outside.mkdir()
    (outside / "c.md").write_text("theirs")
    (outside / "notes").mkdir()
    ws = Workspace(root, writable=NAMES)
    before = disk(outside)

    def swap(name: str) -> None:
        if name == point:
            victim = root if what == "root" else root / "notes"
            victim.rename(tmp_path / "moved")
            victim.symlink_to(outside)

    ws._at = swap
    with contextlib.suppress(ConfinementError, WorkspaceError):
        ws.replace({"a.md": "mine", "notes/c.md": "mine"}, base=absent("a.md", "notes/c.md"), key=KEY)
    assert disk(outside) == before, "written through a link"
    with pytest.raises(ConfinementError):
        Workspace(root, writable=NAMES).read_bytes("notes/c.md") if what == "folder" else ws.read_bytes(
            "a.md"
        )


def test_a_root_that_became_another_folder_is_refused(ws: Workspace, tmp_path: Path) -> None:
    ws.root.rename(tmp_path / "moved")
    with pytest.raises(ConfinementError, match="gone"):
        ws.exists("a.md")
    ws.root.mkdir()
    with pytest.raises(ConfinementError, match="another folder"):
        ws.exists("a.md")


FAILURES = {
    errno.ENOSPC: "disk is full",
    errno.EACCES: "access is denied",
    errno.EROFS: "read-only",
    errno.EIO: "changed",
}


@pytest.mark.parametrize("number", FAILURES)
@pytest.mark.parametrize(
    "point",
    [
        *("begun", "staged 0", "staged 1", "planned", "compared", "committed", "renamed 0", "renamed 1"),
        *("renamed 2", "synced", "read back", "marked"),
    ],
)
def test_a_disk_that_refuses_costs_nothing_and_is_said_plainly(
    ws: Workspace, point: str, number: int
) -> None:
    (ws.root / "a.md").write_text("old a")
    before = disk(ws.root)

    def refuse(name: str) -> None:
        if name == point:
            raise OSError(number, os.strerror(number))

    ws._at = refuse
    base = {"a.md": digest_bytes(b"old a"), "b.md": None, "notes/c.md": None}
    files = {"a.md": "new", "b.md": "new", "notes/c.md": "new"}
    with pytest.raises(WorkspaceError, match=FAILURES[number]):
        ws.replace(files, base=base, key=KEY)
    assert disk(ws.root) == before and leftovers(ws) == [] and ws.replaced(KEY) is None
    ws._at = lambda name: None
    ws.replace(files, base=base, key=KEY)
    assert ws.read_text("notes/c.md") == "new"


def test_a_full_disk_for_real(tmp_path: Path) -> None:
    if os.name == "nt" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs to mount a small disk")
    small = tmp_path / "small"
    small.mkdir()
    if os.system(f"mount -t tmpfs -o size=128k tmpfs '{small}' 2>/dev/null") != 0:
        pytest.skip("mounting is not allowed here")
    try:
        (small / "a.md").write_text("old")
        ws = Workspace(small, writable=NAMES)
        with pytest.raises(WorkspaceError, match="disk is full"):
            ws.replace(
                {"a.md": "new", "b.md": "x" * 500_000},
                base={"a.md": digest_bytes(b"old"), "b.md": None},
                key=KEY,
            )
        assert disk(small) == {"a.md": b"old"} and leftovers(ws) == []
        ws.replace({"a.md": "new"}, base={"a.md": digest_bytes(b"old")}, key=OTHER)
        assert ws.read_text("a.md") == "new"
    finally:
        os.system(f"umount '{small}'")


def test_somebody_elses_edit_amid_a_commit_is_kept_and_named(ws: Workspace) -> None:
    def meddle(name: str) -> None:
        if name == "committed":
            (ws.root / "b.md").write_text("theirs")

    ws._at = meddle
    with pytest.raises(BaseChangedError, match=r"b\.md.*their text stays"):
        ws.replace({"a.md": "mine", "b.md": "mine"}, base=absent("a.md", "b.md"), key=KEY)
    assert disk(ws.root) == {"b.md": b"theirs"}, "our file was taken back, theirs was not touched"
    ws._at = lambda name: None
    assert ws.recover().finished == ()


class Crash(BaseException):
    """Ends a commit as a kill would: nothing of ours may catch it."""


def test_an_edit_after_a_crash_needs_a_person(ws: Workspace) -> None:
    def crash(name: str) -> None:
        if name == "renamed 0":
            raise Crash

    ws._at = crash
    with pytest.raises(Crash):
        ws.replace({"a.md": "mine", "b.md": "mine"}, base=absent("a.md", "b.md"), key=KEY)
    (ws.root / "b.md").write_text("theirs")
    ws._at = lambda name: None
    with pytest.raises(RecoveryError, match=r"b\.md.*somebody else"):
        ws.recover()
    assert disk(ws.root) == {"a.md": b"mine", "b.md": b"theirs"}
    (ws.root / "b.md").unlink()
    assert ws.recover().finished == (KEY,)
    assert disk(ws.root) == {"a.md": b"mine", "b.md": b"mine"}


def test_text_that_reads_back_otherwise_is_told_and_no_copy_is_thrown_away(ws: Workspace) -> None:
    (ws.root / "a.md").write_text("old")

    def spoil(name: str) -> None:
        if name == "synced":
            (ws.root / "a.md").write_text("neither")

    ws._at = spoil
    for act in (
        lambda: ws.replace({"a.md": "new"}, base={"a.md": digest_bytes(b"old")}, key=KEY),
        lambda: ws.recover(),
    ):
        with pytest.raises(RecoveryError, match=r"a\.md.*by hand"):
            act()
        assert (ws.root / ".harness_kit" / f"txn-{KEY}" / "0.old").read_text() == "old"
    assert ws.replaced(KEY) is None


BASE = {"a.md": digest_bytes(b"old a"), "b.md": None, "notes/c.md": None}
FILES: dict[str, str | bytes] = {"a.md": "new", "b.md": "new", "notes/c.md": "new"}


@pytest.mark.parametrize("point", ["undone 0", "undone 1", "undone 2"])
@pytest.mark.parametrize("end", [Crash(), OSError(errno.EIO, "broken")], ids=["killed", "disk"])
def test_an_undoing_that_is_cut_off_is_undone_later(ws: Workspace, point: str, end: BaseException) -> None:
    (ws.root / "a.md").write_text("old a")
    before = disk(ws.root)

    def refuse(name: str) -> None:
        if name == "read back":
            raise OSError(errno.ENOSPC, "full")
        if name == point:
            raise end

    ws._at = refuse
    with pytest.raises((Crash, RecoveryError)) as caught:
        ws.replace(FILES, base=BASE, key=KEY)
    assert isinstance(end, Crash) or "call recover()" in str(caught.value)
    ws._at = lambda name: None
    assert ws.recover().undone == (KEY,)
    assert disk(ws.root) == before and leftovers(ws) == [] and ws.replaced(KEY) is None


def test_the_decision_to_undo_is_on_the_disk_before_the_first_file_goes_back(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not ws._descriptors:
        pytest.skip("folders cannot be forced to the disk without descriptors")
    forced: list[int] = []
    txn: list[int] = []
    fsync = os.fsync

    def record(descriptor: int) -> None:
        forced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def watch(name: str) -> None:
        if name == "read back":
            txn.append((ws.root / ".harness_kit" / f"txn-{KEY}").stat().st_ino)
            forced.clear()
            raise OSError(errno.ENOSPC, "full")
        if name == "undone 0":
            assert forced and forced[0] == txn[0], "a loss of power would find a commit to finish"

    monkeypatch.setattr(os, "fsync", record)
    ws._at = watch
    with pytest.raises(WorkspaceError, match="disk is full") as caught:
        ws.replace({"a.md": "x"}, base=absent("a.md"), key=KEY)
    assert not isinstance(caught.value, RecoveryError)


def test_an_undoing_whose_record_cannot_be_removed_is_not_called_done(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left behind and read again later, the record would take away what a later commit wrote."""
    (ws.root / "a.md").write_text("old a")
    before = disk(ws.root)
    really_unlink = os.unlink

    def in_use(path: Any, **where: Any) -> None:
        if str(path).endswith("undo.json"):
            raise PermissionError(errno.EACCES, "in use")
        really_unlink(path, **where)

    def refuse(name: str) -> None:
        if name == "read back":
            raise OSError(errno.ENOSPC, "full")

    ws._at = refuse
    monkeypatch.setattr(os, "unlink", in_use)
    with pytest.raises(RecoveryError, match="in use"):
        ws.replace(FILES, base=BASE, key=KEY)
    monkeypatch.undo()
    ws._at = lambda name: None
    assert ws.recover().undone == (KEY,)
    assert disk(ws.root) == before and leftovers(ws) == []


def test_a_file_changed_while_others_are_staged_stops_before_the_first_rename(ws: Workspace) -> None:
    (ws.root / "a.md").write_text("old a")
    inode = (ws.root / "a.md").stat().st_ino
    reached: list[str] = []

    def meddle(name: str) -> None:
        reached.append(name)
        if name == "planned":
            (ws.root / "b.md").write_text("theirs")

    ws._at = meddle
    with pytest.raises(BaseChangedError, match=r"b\.md"):
        ws.replace(FILES, base=BASE, key=KEY)
    assert "committed" not in reached
    assert disk(ws.root) == {"a.md": b"old a", "b.md": b"theirs"}
    assert (ws.root / "a.md").stat().st_ino == inode and leftovers(ws) == []


PLAN = {
    "format": "harness_kit.commit.v1",
    "key": KEY,
    "files": [{"name": "a.md", "new": digest_bytes(b"planted"), "old": None}],
    "folders": [],
}
PLANTED = {
    "no JSON": "{",
    "a list": "[]",
    "another format": json.dumps(PLAN | {"format": "harness_kit.commit.v2"}),
    "another key": json.dumps(PLAN | {"key": OTHER}),
    "a file outside": json.dumps(
        PLAN | {"files": [{"name": "../out.md", "new": digest_bytes(b"planted"), "old": None}]}
    ),
    "a folder outside": json.dumps(PLAN | {"folders": ["../empty"]}),
    "no hash": json.dumps(PLAN | {"files": [{"name": "a.md", "new": None, "old": None}]}),
}


@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.parametrize("file", ["commit.json", "undo.json", "mark"])
def test_a_plan_that_is_not_ours_is_refused_and_leads_nowhere(ws: Workspace, what: str, file: str) -> None:
    control = ws.root / ".harness_kit"
    txn = control / f"txn-{KEY}"
    for folder in (txn, control / "commits", ws.root.parent / "empty"):
        folder.mkdir(parents=True)
    (txn / "0.new").write_text("planted")
    (control / "commits" / f"{KEY}.json" if file == "mark" else txn / file).write_text(PLANTED[what])
    before = disk(ws.root.parent)
    with pytest.raises(RecoveryError, match="not a plan"):
        ws.replaced(KEY) if file == "mark" else ws.recover()
    assert disk(ws.root.parent) == before


def test_what_lies_about_in_the_control_folder_blocks_nothing(ws: Workspace) -> None:
    txn = ws.root / ".harness_kit" / f"txn-{OTHER}"
    (txn / "a folder").mkdir(parents=True)
    (txn / "0.new").write_text("half")
    ws.replace({"a.md": "x"}, base=absent("a.md"), key=KEY)
    assert ws.read_text("a.md") == "x" and not (txn / "0.new").exists()


def test_two_writers_take_turns_and_one_of_them_wins(ws: Workspace) -> None:
    told: list[str] = []
    inside = threading.Event()

    def write(text: str, key: str) -> None:
        mine = ws.narrowed(writable={"a.md", "b.md"})
        mine._at = lambda name: inside.set()
        try:
            mine.replace({"a.md": text, "b.md": text}, base=absent("a.md", "b.md"), key=key)
            told.append("written")
        except BaseChangedError:
            told.append("refused")

    threads = [threading.Thread(target=write, args=args) for args in (("one", KEY), ("two", OTHER))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["refused", "written"]
    assert ws.read_text("a.md") == ws.read_text("b.md")


def test_a_writer_that_never_ends_is_not_waited_for_for_ever(ws: Workspace) -> None:
    other = ws.narrowed(writable={"b.md"})
    other.lock_timeout = 0.05
    refused: list[str] = []

    def meanwhile(name: str) -> None:
        if name == "planned":
            with pytest.raises(WorkspaceError, match="locked") as caught:
                other.replace({"b.md": "x"}, base=absent("b.md"), key=OTHER)
            refused.append(str(caught.value))

    ws._at = meanwhile
    ws.replace({"a.md": "x"}, base=absent("a.md"), key=KEY)
    assert len(refused) == 1 and not ws.exists("b.md")


def test_a_recovery_waits_for_a_live_commit_and_leaves_it_alone(ws: Workspace) -> None:
    other = ws.narrowed()
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(other.recover()))

    def meanwhile(name: str) -> None:
        if name == "renamed 0":
            impatient = other.narrowed()
            impatient.lock_timeout = 0.0
            with pytest.raises(WorkspaceError, match="locked"):
                impatient.recover()
            waiting.start()

    ws._at = meanwhile
    ws.replace({"a.md": "x", "b.md": "x"}, base=absent("a.md", "b.md"), key=KEY)
    waiting.join()
    assert found[0].finished == found[0].undone == ()
    assert disk(ws.root) == {"a.md": b"x", "b.md": b"x"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_forked_amid_a_commit_does_not_keep_the_lock(ws: Workspace) -> None:
    reading, writing = os.pipe()
    children: list[int] = []

    def fork(name: str) -> None:
        if name == "planned" and not children:
            children.append(os.fork())
            if children[0] == 0:
                os.close(writing)
                os.read(reading, 1)  # until the parent is through
                os._exit(0)

    ws._at, ws.lock_timeout = fork, 0.5
    try:
        ws.replace({"a.md": "x"}, base=absent("a.md"), key=KEY)
        ws.replace({"b.md": "x"}, base=absent("b.md"), key=OTHER)
    finally:
        os.close(writing)
        os.waitpid(children[0], 0)
        os.close(reading)
    assert ws.read_text("b.md") == "x"


def test_a_disk_that_knows_no_locks_is_not_taken_for_a_busy_one(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(descriptor: int, act: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(WorkspaceError, match="No locks available"):
        ws.replace({"a.md": "x"}, base=absent("a.md"), key=KEY)
    assert disk(ws.root) == {}


def test_the_copies_of_a_private_file_are_private_from_their_first_moment(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ws.root / "a.md").write_text("old")
    (ws.root / "a.md").chmod(0o600)
    made: dict[str, int] = {}
    really_open = os.open

    def watch(path: Any, flags: int, mode: int = 0o777, **where: Any) -> int:
        descriptor = really_open(path, flags, mode, **where)
        if str(path).endswith((".new", ".old")):
            made[Path(path).name] = os.fstat(descriptor).st_mode & 0o777
        return descriptor

    monkeypatch.setattr(os, "open", watch)
    ws.replace({"a.md": "new"}, base={"a.md": digest_bytes(b"old")}, key=KEY)
    assert made == {"0.new": 0o600, "0.old": 0o600}


def test_every_folder_that_got_an_entry_is_forced_to_the_disk(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a loss of power would ask for: a file is only as safe as each folder on the way to it."""
    if not ws._descriptors:
        pytest.skip("folders cannot be forced to the disk without descriptors")
    ws = Workspace(ws.root, writable={"x/y/z.md"})
    forced: list[int] = []
    fsync = os.fsync

    def record(descriptor: int) -> None:
        forced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    by_commit: list[set[int]] = []

    def look(name: str) -> None:
        if name == "committed":
            by_commit.append(set(forced))

    monkeypatch.setattr(os, "fsync", record)
    ws._at = look
    ws.replace({"x/y/z.md": "text"}, base=absent("x/y/z.md"), key=KEY)
    inode = {path: (ws.root / path).stat().st_ino for path in ("", ".harness_kit", "x", "x/y")}
    assert {inode[""], inode[".harness_kit"]} <= by_commit[0], "the plan could be lost with its folder"
    assert set(inode.values()) <= set(forced)


def test_a_narrowed_workspace_may_do_less_and_never_more(ws: Workspace) -> None:
    inner = ws.narrowed(readable={"in.txt"})
    assert inner.identity == ws.identity
    with pytest.raises(ConfinementError):
        inner.check_writable({"a.md"})
    with pytest.raises(ConfinementError, match=r"other\.md"):
        ws.narrowed(writable={"other.md"})


def test_files_and_base_must_name_the_same_files(ws: Workspace) -> None:
    for files, base in (({}, {}), ({"a.md": "x"}, {}), ({"a.md": "x"}, absent("a.md", "b.md"))):
        with pytest.raises(InputError):
            ws.replace(files, base=base, key=KEY)
    assert disk(ws.root) == {}


@pytest.mark.parametrize(
    ("files", "base", "key", "why"),
    [
        ({"a.md": 3}, {"a.md": None}, KEY, "content of 'a.md' is int"),
        ({"a.md": None}, {"a.md": None}, KEY, "content of 'a.md' is NoneType"),
        ({"a.md": "x\ud800"}, {"a.md": None}, KEY, "surrogate at index 1"),
        ({"a.md": "x"}, {"a.md": "abc"}, KEY, "base of 'a.md' is 'abc'"),
        ({"a.md": "x"}, {"a.md": "A" * 64}, KEY, "digest"),
        ({"a.md": "x"}, {"a.md": 0}, KEY, "digest"),
        ({"a.md": "x"}, {"a.md": None}, 3, "commit key 3"),
        ({3: "x"}, {3: None}, KEY, "file name 3 is int"),
    ],
)
def test_what_is_no_text_no_digest_or_no_key_is_refused(
    ws: Workspace, files: Any, base: Any, key: Any, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        ws.replace(files, base=base, key=key)
    assert list(ws.root.iterdir()) == []


def test_a_mark_is_looked_up_by_a_key_and_nothing_else(ws: Workspace) -> None:
    (ws.root / "secret.json").write_text("{}")
    for key in ("../../secret", "", KEY.upper(), None):
        with pytest.raises(InputError, match="64 hex digits"):
            ws.replaced(key)  # type: ignore[arg-type]


def test_a_root_without_a_name_is_not_the_present_folder() -> None:
    with pytest.raises(ConfinementError, match="root is empty"):
        Workspace("")


def test_recovering_where_nothing_happened_makes_nothing(ws: Workspace) -> None:
    assert ws.recover().finished == ws.recover().undone == ()
    assert list(ws.root.iterdir()) == []
