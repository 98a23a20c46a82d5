"""Chapter notebooks: made from their sources, and laid down afresh beside a learner's own copy."""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_kit.errors import InputError
from harness_kit.extras import need
from harness_kit.resources import notebooks_path

METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    # Without a version, which would change with every Python that builds.
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}


@dataclass(frozen=True, kw_only=True)
class Reset:
    """What a reset did."""

    fresh: Path
    """The notebook as shipped, without outputs."""
    kept: Path | None
    """Where the learner's copy went; None where there was none."""


def from_source(path: Path) -> Any:
    """Return the notebook (nbformat 4.5, no outputs) of a percent script, with ids made from its cells.

    `InputError` where the file is not UTF-8 or holds no cell. Needs the extra `test`, for jupytext.
    """
    jupytext, nbformat = need("jupytext", "test"), need("nbformat", "notebook")
    try:
        notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    if not notebook.cells:
        raise InputError(f"{path.name}: no cells; start each with a line '# %%' or '# %% [markdown]'")
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] += 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
    return notebook


def render(notebook: Any) -> str:
    """Return the file's text: valid nbformat 4.5, keys sorted, Hangul as it is, one newline at the end."""
    nbformat = need("nbformat", "notebook")
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def reset_notebook(number: str, folder: Path) -> Reset:
    """Lay chapter `number`'s notebook down in `folder`; what lies there is renamed, never overwritten."""
    name, text = _shipped(number)
    if not folder.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}; make it first, or name another with --into")
    fresh = folder / f"{name}.ipynb"
    draft = folder / f".{name}.part"
    draft.write_text(text, encoding="utf-8", newline="\n")
    kept = None
    if fresh.exists():
        kept = _free_name(folder, name)
        fresh.rename(kept)
    draft.rename(fresh)
    return Reset(fresh=fresh, kept=kept)


def _shipped(number: str) -> tuple[str, str]:
    """Return name and text of a chapter's notebook without outputs."""
    if not re.fullmatch(r"[0-9]{1,2}", number):
        raise InputError(f"{number!r} is no chapter number; give two digits such as 04")
    home = notebooks_path()
    # In a checkout the notebook itself may be the learner's copy, so the source is what is shipped.
    sources = sorted((home / "source").glob("*.py")) or sorted(home.glob("*.ipynb"))
    for path in sources:
        if path.stem.startswith(f"{int(number):02d}_"):
            return path.stem, render(from_source(path)) if path.suffix == ".py" else _emptied(path)
    there = ", ".join(sorted({path.stem[:2] for path in sources}))
    raise InputError(f"there is no notebook for chapter {number!r}; there are: {there}")


def _emptied(path: Path) -> str:
    nbformat = need("nbformat", "notebook")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return render(notebook)


def _free_name(folder: Path, name: str) -> Path:
    for turn in range(1, 1000):
        path = folder / f"{name}.mine-{turn}.ipynb"
        if not path.exists():
            return path
    raise InputError(f"{folder.name} holds 999 copies of {name}; remove some")
