"""A fresh chapter notebook never costs a learner their own."""

from pathlib import Path

import nbformat
import pytest

from harness_kit.errors import InputError
from harness_kit.lessons import reset_notebook


def test_reset_lays_a_fresh_notebook_down(tmp_path: Path) -> None:
    done = reset_notebook("04", tmp_path)
    assert done.kept is None and done.fresh.name == "04_approval_gate.ipynb"
    notebook = nbformat.read(done.fresh, as_version=4)
    assert notebook.cells[0].source.startswith("# 04")
    assert all(not cell.get("outputs") for cell in notebook.cells)
    assert [path.name for path in tmp_path.iterdir()] == ["04_approval_gate.ipynb"]


def test_each_copy_of_the_learner_is_kept(tmp_path: Path) -> None:
    mine = tmp_path / "04_approval_gate.ipynb"
    for turn, text in enumerate(["첫 답", "둘째 답"], 1):
        mine.write_text(text, encoding="utf-8")
        done = reset_notebook("4", tmp_path)
        assert done.kept is not None and done.kept.name == f"04_approval_gate.mine-{turn}.ipynb"
        assert done.kept.read_text(encoding="utf-8") == text
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("number", ["99", "x", "", "../04", "４"])
def test_a_chapter_that_is_not_there_is_named(tmp_path: Path, number: str) -> None:
    with pytest.raises(InputError, match="chapter"):
        reset_notebook(number, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="make it first"):
        reset_notebook("04", tmp_path / "nowhere")
