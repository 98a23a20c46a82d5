"""What the READMEs show works when pasted, and the commands that they name exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness_kit.cli import main

ROOT = Path(__file__).resolve().parent.parent
READMES = ["README.md", "README.ko.md"]


@pytest.mark.parametrize("name", READMES)
def test_the_lines_work_when_pasted(name: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 1
    (tmp_path / "pasted.py").write_text(blocks[0], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "pasted.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("mismatch\nsaved\n", "")


@pytest.mark.parametrize("name", READMES)
def test_commands_links_and_pictures_exist(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    for command in re.findall(r"harness-kit (\w+)", text):
        assert command in main.commands, command
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / target).exists(), target
    for target in re.findall(r"make ([\w-]+)", text):
        assert target in {"reproduce", "test", "lab", "and"} or target == "이", target


def test_the_printed_block_is_the_expected_output() -> None:
    golden = (ROOT / "data/golden/approval_gate.txt").read_text("utf-8")
    shown = "".join(
        line.removeprefix("    ") + "\n" for line in (ROOT / "README.md").read_text("utf-8").splitlines()
    )
    assert golden in shown
