"""`import harness_kit` stays light: what it loads, not how long that takes (see bench/import_time.py)."""

import subprocess
import sys

# Of the standard library, what costs several milliseconds and is not needed to write down a run.
DEAR = {"asyncio", "email", "importlib.metadata", "logging", "multiprocessing", "sqlite3", "tempfile"}


def _loaded(statement: str) -> set[str]:
    """Names of all modules that a fresh interpreter imports for `statement`, as it reports them itself."""
    command = [sys.executable, "-X", "importtime", "-c", statement]
    report = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stderr
    lines = [line for line in report.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_the_root_loads_only_the_light_part_of_the_standard_library() -> None:
    loaded = _loaded("import harness_kit") - _loaded("pass")
    assert "harness_kit" in loaded
    # `copy` asks for a module of Jython's, which is reported though it is not there.
    ours = sys.stdlib_module_names | {"harness_kit", "org"}
    assert {name for name in loaded if name.split(".")[0] not in ours} == set()
    assert loaded & DEAR == set()


def test_the_report_sees_a_dear_module() -> None:
    assert {"sqlite3", "tempfile"} <= _loaded("import sqlite3, tempfile")
