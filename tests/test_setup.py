"""The set-up behind each make target, and the wheel: from nothing to a chapter reproduced."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")


def _run(
    command: list[str], folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    # Variables of an outer make or virtual environment are not a newcomer's.
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON", "PYTHONPATH", "VIRTUAL_ENV"}
    clean = {key: value for key, value in os.environ.items() if key not in outer}
    return subprocess.run(
        command, cwd=folder, env=clean | dict(environment or {}), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.fixture
def only(tmp_path: Path) -> Path:
    """A folder for PATH that holds nothing but the few tools that the set-up calls, and no Python."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "rm", "cat", "touch", "grep", "tail"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    return tools


def _fake(folder: Path, name: str, code: int) -> None:
    """A command that ends as the probe of such a Python would."""
    (folder / name).write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("fakes", "words"),
    [
        ({}, "No Python 3.11, 3.12 or 3.13 was found; install one"),
        ({"python3": 3, "python": 3}, "No Python 3.11, 3.12 or 3.13 was found; install one"),
        ({"python3.12": 127}, "No Python 3.11, 3.12 or 3.13 was found; install one"),
        ({"python3": 4}, "python3 is new enough but cannot make environments; install its venv package"),
        ({"python3": 3, "python3.13": 4}, "python3.13 is new enough but cannot make environments"),
    ],
)
def test_without_a_fit_python_one_sentence_says_what_to_install(
    only: Path, tmp_path: Path, fakes: dict[str, int], words: str
) -> None:
    for name, code in fakes.items():
        _fake(only, name, code)
    result = _run(["sh", str(ROOT / ".ci" / "venv"), "", ".venv/core"], tmp_path, {"PATH": str(only)})
    assert result.returncode == 1
    assert result.stderr.startswith(words)
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("code", "words"), [(3, "is no Python 3.11, 3.12 or 3.13 that runs"), (4, "cannot make environments")]
)
def test_a_named_python_is_not_replaced_by_another(only: Path, tmp_path: Path, code: int, words: str) -> None:
    (only / "python3").symlink_to(sys.executable)
    _fake(only, "mine", code)
    environment = {"PATH": str(only), "PYTHON": "mine"}
    result = _run(["sh", str(ROOT / ".ci" / "venv"), "", ".venv/core"], tmp_path, environment)
    assert result.returncode == 1
    assert result.stderr.startswith("PYTHON=mine")
    assert words in result.stderr


def _copy(target: Path) -> Path:
    """The files that a clone would hold if all were committed as they are now."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode("utf-8").split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_reproduce_sets_itself_up_in_a_folder_with_a_space_and_hangul(tmp_path: Path) -> None:
    checkout = _copy(tmp_path / "한글 폴더" / "harness kit")
    environment = {"PYTHON": sys.executable}
    # What a killed set-up leaves: an environment without pip and without a stamp.
    venv.create(checkout / ".venv", with_pip=False)
    first = _run(["make", "reproduce"], checkout, environment)
    assert first.returncode == 0, first.stderr
    assert first.stdout.rstrip().endswith("approval_gate: identical")
    stamp = (checkout / ".venv" / "core").stat().st_mtime_ns

    second = _run(["make", "reproduce"], checkout, environment)
    assert second.returncode == 0
    assert "Installing" in first.stdout
    assert "Installing" not in second.stdout
    assert (checkout / ".venv" / "core").stat().st_mtime_ns == stamp, "nothing was done twice"

    moved = checkout.rename(tmp_path / "moved")
    third = _run(["make", "reproduce"], moved, environment)
    assert third.returncode == 0, third.stderr
    assert third.stdout.rstrip().endswith("approval_gate: identical")
    assert "Installing" in third.stdout, "the old folder's paths are gone"


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_reproduces_chapter_four(tmp_path: Path) -> None:
    checkout = _copy(tmp_path / "checkout")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq"]
    built = _run([*pip, "wheel", "--no-deps", "-w", str(tmp_path / "dist"), "."], checkout)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    names = zipfile.ZipFile(wheel).namelist()
    assert "harness_kit/data/golden/approval_gate.txt" in names
    folders = {name.split("/")[0] for name in names}
    assert folders == {"harness_kit", "harness_kit-0.1.0.dist-info"}
    shipped = {f"harness_kit/notebooks/{path.name}" for path in (checkout / "notebooks").glob("*.ipynb")}
    assert {name for name in names if name.startswith("harness_kit/notebooks/")} == shipped
    shutil.rmtree(checkout)

    elsewhere = tmp_path / "빈 곳"
    venv.create(elsewhere / "env", with_pip=True)
    program = elsewhere / "env" / ("Scripts" if os.name == "nt" else "bin")
    constraints = ["-c", str(ROOT / "constraints.txt")]
    installed = _run([str(program / "python"), *pip[1:], "install", *constraints, str(wheel)], elsewhere)
    assert installed.returncode == 0, installed.stderr
    golden = (ROOT / "data" / "golden" / "approval_gate.txt").read_bytes()
    command = [program / "harness-kit", "reproduce", "approval_gate"]
    printed = subprocess.run(command, cwd=elsewhere, capture_output=True, check=False)
    assert printed.stderr == b""
    assert printed.stdout == golden
