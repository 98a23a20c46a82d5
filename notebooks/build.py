"""Build notebooks/NN_slug.ipynb from notebooks/source/NN_slug.py: source in, executed notebook out.

    python notebooks/build.py                    build all that have a source
    python notebooks/build.py 04_approval_gate   build one
    python notebooks/build.py --check            build in memory; fail where a built file differs

The same source gives the same bytes with the same packages: cell ids come from the cells themselves, times
are not recorded, the kernel runs in a clean environment, and what cannot be the same twice is refused.
"""

import argparse
import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from harness_kit.errors import InputError
from harness_kit.lessons import from_source, render

HERE = Path(__file__).resolve().parent
MAX_LINES = 12
"""Lines of a code cell; what is longer belongs into the package."""
CELL_SECONDS = 60
"""A cell that takes longer fails, here as under nbval."""
KEPT_VARIABLES = ("PATH", "HOME", "SYSTEMROOT", "USERPROFILE", "APPDATA", "TEMP", "TMP", "LD_LIBRARY_PATH")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class OwnKernels(AsyncKernelManager):
    """Starts the kernel of this very Python, whatever other kernels the machine knows."""

    def _kernel_spec_manager_default(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[])


class BuildError(Exception):
    """A notebook cannot be built; the message names the notebook, the cell and the remedy."""


def read(source: Path) -> nbformat.NotebookNode:
    """Return the notebook of a percent script, without outputs; `BuildError` where a rule is broken."""
    try:
        notebook = from_source(source)
    except InputError as error:
        raise BuildError(str(error)) from error
    for number, cell in enumerate(notebook.cells, start=1):
        lines = cell.source.count("\n") + 1
        if cell.cell_type == "code" and lines > MAX_LINES:
            raise BuildError(
                f"{_where(source.stem, number, cell)}: {lines} lines; at most {MAX_LINES} are allowed, "
                "split the cell or move its logic into the package"
            )
        if cell.cell_type == "code" and cell.source.rstrip().endswith(";"):
            raise BuildError(
                f"{_where(source.stem, number, cell)}: ends with ';', which nbval does not honour; "
                "assign the value to a name instead"
            )
    return notebook


def execute(notebook: nbformat.NotebookNode, name: str, folder: Path) -> None:
    """Run all cells in `folder` with this Python and put normalised outputs into `notebook`."""
    with tempfile.TemporaryDirectory() as scratch:
        client = NotebookClient(
            notebook,
            kernel_manager_class=OwnKernels,
            kernel_name="python3",
            # A warning about the transport, which is this machine's own, says nothing of the notebook.
            extra_arguments=["--log-level=ERROR"],
            timeout=CELL_SECONDS,
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
        )
        number = 0

        async def started(cell: nbformat.NotebookNode, cell_index: int) -> None:
            nonlocal number
            number = cell_index + 1

        client.on_cell_start = started
        try:
            client.execute(env=_environment(scratch))
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            where = _where(name, number, notebook.cells[number - 1])
            raise BuildError(f"{where}: {_short(error)}") from error
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            for output in cell.outputs:
                _normalise(output, _where(name, number, cell))


def _environment(scratch: str) -> dict[str, str]:
    """Nothing of the caller's settings; this checkout first on the path."""
    kept = {key: os.environ[key] for key in KEPT_VARIABLES if key in os.environ}
    return kept | {
        "IPYTHONDIR": scratch,
        "JUPYTER_NO_CONFIG": "1",
        "LANG": "C.UTF-8",
        "MPLCONFIGDIR": scratch,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(HERE.parent),
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }


def _normalise(output: nbformat.NotebookNode, where: str) -> None:
    output.pop("transient", None)
    if output.output_type == "stream" and output.name == "stderr":
        words = output.text.strip()[:200]
        raise BuildError(f"{where}: wrote to stderr: {words!r}; mend the cause of the warning")
    if "data" in output:
        # Its model id is a random number, and the model does not survive the kernel.
        output.data.pop(WIDGET_VIEW, None)
    for text in _texts(output):
        unstable = re.search(r" at 0x[0-9a-fA-F]+", text)
        if unstable:
            raise BuildError(f"{where}: prints an address ({unstable[0].strip()}); show a value instead")
        if str(HERE.parent) in text:
            raise BuildError(f"{where}: prints a path of this machine; show a relative path instead")


def _texts(output: nbformat.NotebookNode) -> Iterator[str]:
    if output.output_type == "stream":
        yield output.text
    # Sorted, since the file sorts them and a kernel does not.
    for mime, content in sorted(output.get("data", {}).items()):
        if mime.startswith("text/"):
            yield content


def _where(name: str, number: int, cell: nbformat.NotebookNode) -> str:
    first = cell.source.strip().split("\n")[0][:60]
    return f"{name}, cell {number} ({first})"


def _short(error: Exception) -> str:
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}"
    if isinstance(error, CellTimeoutError):
        return f"took longer than {CELL_SECONDS} seconds"
    return "the kernel died; run the cell in JupyterLab to see why"


def build(source: Path, folder: Path) -> nbformat.NotebookNode:
    """Read and execute one source; the notebook belongs into `folder`."""
    notebook = read(source)
    execute(notebook, source.stem, folder)
    return notebook


def write(target: Path, notebook: nbformat.NotebookNode) -> None:
    """Replace `target` in one step, so that a killed build leaves the old notebook whole."""
    draft = target.with_suffix(".ipynb.part")
    draft.write_text(render(notebook), encoding="utf-8", newline="\n")
    draft.replace(target)


def differences(
    built: nbformat.NotebookNode, shipped: nbformat.NotebookNode, sanitize: list[tuple[str, str]]
) -> list[str]:
    """Say where two notebooks differ in number of cells, type, id, source, tags or text output."""
    found = []
    if len(built.cells) != len(shipped.cells):
        found.append(f"{len(shipped.cells)} cells, expected {len(built.cells)}")
    for number, (new, old) in enumerate(zip(built.cells, shipped.cells, strict=False), start=1):
        pairs = {
            "type": (new.cell_type, old.cell_type),
            "id": (new.get("id"), old.get("id")),
            "source": (new.source, old.source),
            "tags": (new.metadata.get("tags", []), old.metadata.get("tags", [])),
            "text output": (_comparable(new, sanitize), _comparable(old, sanitize)),
        }
        for what, (expected, got) in pairs.items():
            if expected != got:
                found.append(f"cell {number} ({new.source.strip()[:40]!r}): {what} differs")
    return found


def _comparable(cell: nbformat.NotebookNode, sanitize: list[tuple[str, str]]) -> list[str]:
    texts = [text for output in cell.get("outputs", []) for text in _texts(output)]
    for pattern, replacement in sanitize:
        texts = [re.sub(pattern, replacement, text) for text in texts]
    return texts


def sanitizers(path: Path) -> list[tuple[str, str]]:
    """Return the (regex, replacement) pairs of a file in nbval's form."""
    text = path.read_text(encoding="ascii")
    return re.findall(r"^regex: (.*)$\n^replace: (.*)$", text, flags=re.MULTILINE)


def check(source: Path, target: Path, sanitize: list[tuple[str, str]]) -> list[str]:
    """Build again in memory and return the differences to the shipped file."""
    if not target.is_file():
        return [f"{target.name} is missing"]
    built = build(source, target.parent)
    return differences(built, nbformat.read(target, as_version=4), sanitize)


def main(arguments: list[str] | None = None, folder: Path = HERE) -> int:
    parser = argparse.ArgumentParser(description="Build the notebooks from their sources.")
    parser.add_argument("names", nargs="*", help="NN_slug of the notebooks; all of them unless given")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a built file differs")
    options = parser.parse_args(arguments)
    sources = {path.stem: path for path in sorted((folder / "source").glob("*.py"))}
    unknown = [name for name in options.names if name not in sources]
    if unknown:
        parser.error(f"no source for {', '.join(unknown)}; there are: {', '.join(sources) or 'none'}")
    failed = False
    if options.check and not options.names:
        for orphan in sorted({path.stem for path in folder.glob("*.ipynb")} - set(sources)):
            print(f"{orphan}: has no source; remove it or write source/{orphan}.py", file=sys.stderr)
            failed = True
    for name in options.names or sources:
        target = folder / f"{name}.ipynb"
        try:
            if options.check:
                found = check(sources[name], target, sanitizers(folder / "sanitize.cfg"))
                for line in found:
                    print(f"{name}: {line}", file=sys.stderr)
                failed = failed or bool(found)
                print(f"{name}: {'differs; run make notebooks' if found else 'identical'}")
            else:
                write(target, build(sources[name], folder))
                print(f"{name}: built")
        except BuildError as error:
            print(error, file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    if sys.platform == "win32":
        # The messaging library of the kernels cannot use the default loop there.
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    sys.exit(main())
