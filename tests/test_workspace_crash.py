"""A commit of five files, killed for real at every point: afterwards all files are old or all are new."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness_kit.canonical import digest_bytes, fingerprint
from harness_kit.workspace import Workspace

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")

OLD = {"a.md": "old a\n", "b.md": "old b\n", "notes/c.md": "old c\n"}
NEW = {
    "a.md": "new a\n", "b.md": "new b, and longer\n", "notes/c.md": "new c\n", "d.md": "new d\n",
    "fresh/deep/e.md": "new e\n",
}  # fmt: skip
KEY = fingerprint("the commit of this test")

CHILD = """
import json, os, signal, sys
from harness_kit.workspace import Workspace

folder, new, base, key, nth, act, descriptors = json.loads(sys.argv[1])
workspace = Workspace(folder, writable=set(new))
workspace._descriptors = descriptors
names = []

def point(name):
    names.append(name)
    if len(names) == nth:
        os.kill(os.getpid(), signal.SIGKILL)

workspace._at = point
if act == "replace":
    workspace.replace(new, base=base, key=key)
else:
    workspace.recover()
print(json.dumps(names))
"""


WRITER = """
import sys
from harness_kit.errors import BaseChangedError
from harness_kit.workspace import Workspace

folder, text, key, descriptors = sys.argv[1:]
workspace = Workspace(folder, writable={"a.md", "sub/b.md"})
workspace._descriptors = descriptors == "True"
print("ready", flush=True)
sys.stdin.readline()
try:
    workspace.replace({"a.md": text, "sub/b.md": text}, base={"a.md": None, "sub/b.md": None}, key=key)
    print("written")
except BaseChangedError:
    print("refused")
"""


@pytest.mark.parametrize("descriptors", [True, False])
def test_of_processes_that_commit_at_once_one_writes_and_the_others_are_told(
    tmp_path: Path, descriptors: bool
) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(number), fingerprint(number), str(descriptors)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(6)
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    told = [writer.communicate()[0].strip() for writer in writers]
    assert sorted(told) == ["refused"] * 5 + ["written"]
    winner = str(told.index("written"))
    assert contents(tmp_path) == {"a.md": winner, "sub/b.md": winner}


def laid_out(folder: Path) -> Path:
    work = folder / "work"
    for name, text in OLD.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    return work


def base() -> dict[str, str | None]:
    return {name: digest_bytes(OLD[name].encode()) if name in OLD else None for name in NEW}


def child(
    work: Path, nth: int, act: str = "replace", descriptors: bool = True
) -> "subprocess.CompletedProcess[str]":
    told = json.dumps([str(work), NEW, base(), KEY, nth, act, descriptors])
    return subprocess.run([sys.executable, "-c", CHILD, told], capture_output=True, text=True, check=False)


def contents(work: Path) -> dict[str, str]:
    return {
        str(path.relative_to(work)): path.read_text("utf-8")
        for path in sorted(work.rglob("*"))
        if path.is_file() and ".harness_kit" not in path.parts
    }


def points(tmp_path: Path) -> list[str]:
    work = laid_out(tmp_path / "probe")
    done = child(work, 0)
    assert contents(work) == NEW, done.stderr
    named: list[str] = json.loads(done.stdout)
    return named


def assert_whole(work: Path, killed_at: str) -> str:
    """All old or all new, nothing left over; a second commit works. Return which of the two."""
    workspace = Workspace(work, writable=set(NEW))
    workspace.recover()
    found = contents(work)
    assert found in (OLD, NEW), f"torn after a kill at {killed_at}: {found}"
    folders = {str(path.relative_to(work)) for path in work.rglob("*") if path.is_dir()}
    if found == OLD:
        assert not {"fresh", "fresh/deep"} & folders, f"a new folder was left after a kill at {killed_at}"
        assert workspace.replaced(KEY) is None
    else:
        assert workspace.replaced(KEY) is not None, "written, and not marked as done"
    assert not list((work / ".harness_kit").glob("txn*"))
    again = workspace.replace(NEW, base=base(), key=KEY)
    assert again.already == (found == NEW) and contents(work) == NEW
    return "new" if found == NEW else "old"


def test_a_commit_has_points_enough_and_a_kill_on_each_side_of_its_commit_point_is_whole(
    tmp_path: Path,
) -> None:
    named = points(tmp_path)
    assert len(named) >= 12 and len(set(named)) == len(named)
    committed = named.index("committed")
    for place, expected in ((committed - 1, "old"), (committed, "new")):
        work = laid_out(tmp_path / str(place))
        assert child(work, place + 1).returncode == -signal.SIGKILL
        assert assert_whole(work, named[place]) == expected


@pytest.mark.slow
def test_two_hundred_kills_tear_nothing(tmp_path: Path) -> None:
    """Every point, with and without directory descriptors, and kills of the recovery itself."""
    named = points(tmp_path)
    chance = random.Random(20261201)
    kills = 0
    for turn in range(7):
        for place, name in enumerate(named, 1):
            work = laid_out(tmp_path / f"{turn}-{place}")
            assert child(work, place, descriptors=turn % 2 == 0).returncode == -signal.SIGKILL
            kills += 1
            # Recovery is cut off too, up to three times, before it is let through.
            for _ in range(chance.randrange(4)):
                if child(work, chance.randrange(1, 9), act="recover").returncode == -signal.SIGKILL:
                    kills += 1
            expected = "new" if place > named.index("committed") else "old"
            assert assert_whole(work, name) == expected
    assert kills >= 200


@pytest.mark.slow
def test_kills_at_random_moments_tear_nothing(tmp_path: Path) -> None:
    """Not at our points but whenever the timer says: between any two instructions."""
    chance = random.Random(7)
    for turn in range(40):
        work = laid_out(tmp_path / str(turn))
        told = json.dumps([str(work), NEW, base(), KEY, 0, "replace", True])
        process = subprocess.Popen([sys.executable, "-c", CHILD, told], stdout=subprocess.DEVNULL)
        try:
            process.wait(timeout=0.05 + chance.random() * 0.1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if (work / ".harness_kit").exists():
            assert_whole(work, "a random moment")
        assert contents(work) in (OLD, NEW)
