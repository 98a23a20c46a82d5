"""The notebook builder: same source, same bytes; what may not ship is refused with its cell named."""

import json
from pathlib import Path

import pytest

pytest.importorskip("jupytext")
pytest.importorskip("nbclient")

import nbformat

from notebooks import build

TINY = """\
# %% [markdown]
# # 작은 장

# %% tags=["setup"]
x = 40 + 2
print(f"값 {x}")

# %%
x

# %%
x
"""

# Two texts of one value, in another order than the file keeps them in.
TABLE = """
# %%
class Table:
    def _repr_mimebundle_(self, **kwargs):
        return {"text/plain": "table", "text/html": "<b>table</b>"}
Table()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "한글 폴더" / "notebooks"
    (place / "source").mkdir(parents=True)
    (place / "sanitize.cfg").write_text("regex: value \\d+\nreplace: value N\n", encoding="ascii")
    return place


def _source(folder: Path, text: str, name: str = "09_tiny") -> Path:
    path = folder / "source" / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_cell_ids_come_from_the_cells_and_tags_are_kept(folder: Path) -> None:
    first = build.read(_source(folder, TINY))
    again = build.read(_source(folder, TINY.replace("# # 작은 장", "# # 다른 장")))
    ids = [cell.id for cell in first.cells]
    assert len(set(ids)) == 4
    assert ids[3] == ids[2] + "-2", "equal cells are told apart by their order"
    assert [cell.id for cell in again.cells][1:] == ids[1:], "a change elsewhere moves no id"
    assert again.cells[0].id != ids[0]
    assert first.cells[1].metadata == {"tags": ["setup"]}
    assert first.metadata.kernelspec.name == "python3"
    assert "version" not in first.metadata.language_info


def test_a_long_cell_is_refused_by_name(folder: Path) -> None:
    twelve = "\n".join(f"a{i} = {i}" for i in range(12))
    assert len(build.read(_source(folder, f"# %%\n{twelve}\n")).cells) == 1
    with pytest.raises(build.BuildError, match=r"09_tiny, cell 2 \(a0 = 0\): 13 lines; at most 12"):
        build.read(_source(folder, f"# %%\n1\n\n# %%\n{twelve}\nb = 1\n"))


def test_a_hidden_value_is_refused_since_nbval_would_show_it(folder: Path) -> None:
    with pytest.raises(build.BuildError, match=r"09_tiny, cell 1 \(f\(x\);\): ends with ';'"):
        build.read(_source(folder, "# %%\nf(x);\n"))


def test_an_empty_or_badly_encoded_source_is_refused(folder: Path) -> None:
    with pytest.raises(build.BuildError, match="no cells"):
        build.read(_source(folder, ""))
    (folder / "source" / "09_tiny.py").write_bytes("# %%\n# 값".encode("cp949"))
    with pytest.raises(build.BuildError, match="not UTF-8 at byte 7"):
        build.read(folder / "source" / "09_tiny.py")


def _built(folder: Path, text: str = "value 1") -> nbformat.NotebookNode:
    notebook = build.read(_source(folder, TINY))
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
    return notebook


def test_the_check_names_what_differs(folder: Path) -> None:
    rules = build.sanitizers(folder / "sanitize.cfg")
    built = _built(folder)
    assert build.differences(built, _built(folder, "value 23"), rules) == [], "sanitised"
    assert build.differences(built, _built(folder, "value x"), rules) == [
        "cell 2 ('x = 40 + 2\\nprint(f\"값 {x}\")'): text output differs"
    ]
    other = _built(folder)
    other.cells[1].metadata = {}
    other.cells[2].source = "y"
    other.cells[3].id = "abc"
    other.cells.append(nbformat.v4.new_code_cell("z"))
    assert [line.split(": ")[-1] for line in build.differences(built, other, rules)] == [
        "5 cells, expected 4", "tags differs", "source differs", "id differs"
    ]  # fmt: skip


def test_pictures_are_not_compared_but_their_text_is(folder: Path) -> None:
    def with_picture(png: str, text: str) -> nbformat.NotebookNode:
        notebook = _built(folder)
        data = {"image/png": png, "text/plain": text}
        notebook.cells[2].outputs = [nbformat.v4.new_output("display_data", data=data)]
        return notebook

    old = with_picture("AAAA", "<Figure>")
    assert build.differences(with_picture("BBBB", "<Figure>"), old, []) == []
    assert len(build.differences(with_picture("AAAA", "<Axes>"), old, [])) == 1


@pytest.mark.parametrize("arguments", [[], ["--check"]])
def test_an_unknown_name_lists_the_known_ones(
    folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _source(folder, TINY)
    with pytest.raises(SystemExit) as stop:
        build.main([*arguments, "10_none"], folder)
    assert stop.value.code == 2
    assert "no source for 10_none; there are: 09_tiny" in capsys.readouterr().err


def test_a_notebook_without_source_fails_the_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "08_orphan.ipynb").write_text("{}", encoding="utf-8")
    assert build.main(["--check"], folder) == 1
    assert "08_orphan: has no source" in capsys.readouterr().err


@pytest.mark.kernel
def test_building_twice_gives_the_same_bytes_and_the_check_finds_an_edit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _source(folder, TINY + "\n# %%\nfrom pathlib import Path\nPath.cwd().name\n" + TABLE)
    target = folder / "09_tiny.ipynb"
    assert build.main(["--check"], folder) == 1, "missing"
    assert build.main([], folder) == 0
    first = target.read_bytes()
    assert build.main([], folder) == 0
    assert target.read_bytes() == first
    assert build.main(["--check"], folder) == 0

    notebook = json.loads(first)
    cells = notebook["cells"]
    assert "값" in first.decode("utf-8")
    assert [cell.get("execution_count") for cell in cells] == [None, 1, 2, 3, 4, 5]
    assert cells[1]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["값 42\n"]}]
    assert cells[4]["outputs"][0]["data"] == {"text/plain": ["'notebooks'"]}
    assert "execution" not in cells[1]["metadata"]
    assert [path.name for path in sorted(folder.iterdir())] == ["09_tiny.ipynb", "sanitize.cfg", "source"]

    target.write_bytes(first.replace("값 42".encode(), "값 43".encode()))
    capsys.readouterr()
    assert build.main(["--check"], folder) == 1
    captured = capsys.readouterr()
    assert "09_tiny: cell 2" in captured.err
    assert "text output differs" in captured.err


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; print('가', file=sys.stderr)", "wrote to stderr: '가'"),
        ("object()", "prints an address (at 0x"),
        ("import os; print(os.environ['PYTHONPATH'])", "prints a path of this machine"),
        ("import os; os._exit(1)", "the kernel died"),
    ],
)
def test_what_may_not_ship_names_its_cell_and_writes_nothing(
    folder: Path, code: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _source(folder, f"# %%\nx = 1\n\n# %%\n{code}\n")
    assert build.main([], folder) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"09_tiny, cell 2 ({code[:60]}): ")
    assert words in message
    assert not (folder / "09_tiny.ipynb").exists()


@pytest.mark.kernel
@pytest.mark.slow
def test_every_shipped_notebook_is_what_its_source_builds() -> None:
    assert build.main(["--check"]) == 0
