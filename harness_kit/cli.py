"""The commands: `harness-kit reproduce | compare | trace | decisions | reset | glossary | doctor`.

Exit codes: 0 as hoped, 1 something drifted, regressed or is wrong with the machine, 2 bad input (one line on
stderr), 3 a comparison that nothing can be said of.
"""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness_kit.errors import HarnessError

if TYPE_CHECKING:
    from harness_kit.store import TraceStore

Command = TypeVar("Command", bound=Callable[..., Any])


def say(text: str = "") -> None:
    """Write one line to stdout as UTF-8 with a plain line feed, whatever the console is set to."""
    click.echo(f"{text}\n".encode("utf-8", errors="backslashreplace"), nl=False)


def plain_errors(command: Command) -> Command:
    """Turn an error of ours, or of the file system, into one line on stderr and exit code 2."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise
        except (HarnessError, OSError) as error:
            click.echo(f"harness-kit: {error}", err=True)
            sys.exit(2)

    return guarded  # type: ignore[return-value]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="harness-kit", prog_name="harness-kit")
def main() -> None:
    """Teach with agent harnesses, and trust what their runs say."""


@main.command()
@click.argument("chapter", required=False)
@click.option(
    "--check", "only_check", is_flag=True, help="Compare with the expected output; print no chapter text."
)
@plain_errors
def reproduce(chapter: str | None, only_check: bool) -> None:
    """Print what CHAPTER prints; without one, run all and say which are identical (exit 1 on drift)."""
    from harness_kit.reproduce import chapter_named, check, printed
    from harness_kit.scenarios import CHAPTERS

    if chapter is not None and not only_check:
        click.echo(printed(chapter_named(chapter)), nl=False)
        return
    checked = [check(one) for one in ([chapter_named(chapter)] if chapter else CHAPTERS)]
    for result in checked:
        say(result.line)
    if any(result.difference for result in checked):
        sys.exit(1)


@main.command()
@click.argument("before")
@click.argument("after")
@click.option("--gate", "gate_file", type=click.Path(path_type=Path), default=None,
              help="TOML; what AFTER must show.  [default: no regression, no crash, all run]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value instead of words.")
@plain_errors
def compare(before: str, after: str, gate_file: Path | None, as_json: bool) -> None:
    """Compare two runs: result files (JSON lines, CSV) or runs of a store (runs.db#RUN).

    Exits with 0 passed, 1 regressed, 3 inconclusive, 2 bad input.
    """
    from harness_kit.canonical import text
    from harness_kit.compare import compare as compared
    from harness_kit.comparing import EXIT_CODES, comparison_lines, comparison_record
    from harness_kit.gates import Gate
    from harness_kit.importers.own import read_results

    gate = None if gate_file is None else Gate.read(gate_file)
    comparison = compared(read_results(before), read_results(after), gate=gate)
    for line in [text(comparison_record(comparison))] if as_json else comparison_lines(comparison):
        say(line)
    sys.exit(EXIT_CODES[comparison.verdict])


store_option = click.option(
    "--store", "path", default="runs.db", show_default=True, type=click.Path(path_type=Path),
    envvar="HARNESS_KIT_STORE", help="The trace store.",
)  # fmt: skip


def existing_store(path: Path) -> "TraceStore":
    """Open a store that is there; reading must not make an empty one."""
    from harness_kit.errors import InputError
    from harness_kit.store import TraceStore

    if not path.is_file():
        raise InputError(f"there is no store at {str(path)!r}; name one with --store or HARNESS_KIT_STORE")
    return TraceStore(path)


@main.command()
@click.argument("run_id", metavar="RUN", required=False)
@store_option
@plain_errors
def trace(run_id: str | None, path: Path) -> None:
    """Show one stored run, a line a step; without RUN, list the runs."""
    from harness_kit.views import run_line, trace_lines

    with existing_store(path) as store:
        lines = [run_line(row) for row in store.runs()] if run_id is None else trace_lines(store, run_id)
        for line in lines:
            say(line)


@main.group()
def decisions() -> None:
    """The chain of decisions: who answered what, and whether the chain is whole."""


@decisions.command("list")
@store_option
@plain_errors
def list_decisions(path: Path) -> None:
    """List the decisions, a line each."""
    from harness_kit.views import decision_line

    with existing_store(path) as store:
        for link in store.decisions():
            say(decision_line(link))


@decisions.command()
@store_option
@plain_errors
def verify(path: Path) -> None:
    """Walk the chain and explain its first broken link (exit 1 if there is one)."""
    with existing_store(path) as store:
        report = store.verify_decisions()
    if not report.ok:
        say(f"broken ({report.fault}): {report.message}")
        sys.exit(1)
    say(f"whole: {report.length} decisions")


@main.command()
@click.argument("number", metavar="NN")
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), default=None,
              help="Folder of your notebooks.  [default: ./notebooks if it is there, else .]")  # fmt: skip
@plain_errors
def reset(number: str, into: Path | None) -> None:
    """Lay down chapter NN's notebook afresh; your own copy is kept beside it."""
    from harness_kit.lessons import reset_notebook

    folder = into or (Path("notebooks") if Path("notebooks").is_dir() else Path())
    done = reset_notebook(number, folder)
    if done.kept is not None:
        say(f"kept your copy: {done.kept}")
    say(f"fresh: {done.fresh}")


@main.command()
@plain_errors
def glossary() -> None:
    """Print every code with its Korean and English word, separated by tabs."""
    from harness_kit.labels import glossary as rows

    for row in rows():
        say("\t".join(row))


@main.command()
@plain_errors
def doctor() -> None:
    """Say what is wrong with this machine, and how to mend it (exit 1 if anything is)."""
    from harness_kit.doctor import checks

    found = checks()
    for check in found:
        say(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.found}")
        if not check.ok:
            say(f"     {check.remedy}")
    if not all(check.ok for check in found):
        sys.exit(1)
