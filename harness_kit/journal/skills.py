"""The two skills as the package ships them, or as they stand in a folder on disk.

A repair swaps one file of a folder and nothing else; what runs is what was hashed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from harness_kit.canonical import digest_bytes
from harness_kit.errors import InputError
from harness_kit.journal import cash_path_tracer, extinction_exception_rules
from harness_kit.journal.config import Config
from harness_kit.journal.rows import Allocation, Row, Trace, Unmatched

TRACER_FILE = "cash_path_tracer.py"
RULES_FILE = "extinction_exception_rules.py"


@dataclass(frozen=True, kw_only=True)
class Skills:
    """What the umbrella calls, and what it was made of."""

    trace: Callable[[Iterable[Row], Config], Trace]
    judge: Callable[[Iterable[Unmatched], Config], tuple[Allocation, ...]]
    hashes: dict[str, str]
    """SHA-256 (64 hex digits) of every file of the journal part, by name: the code hash of a receipt."""


@lru_cache(maxsize=1)
def packaged() -> Skills:
    """Return the skills of the package."""
    return Skills(trace=cash_path_tracer.trace, judge=extinction_exception_rules.judge, hashes=_hashes({}))


def load(folder: str | Path) -> Skills:
    """Return the skills of `folder`; of the two, one may be missing there and is the package's then.

    `InputError` where the folder has neither, or a file of it is no such skill. The code of the files is
    run: load only folders that you would run.
    """
    sources = {
        name: (Path(folder) / name).read_bytes()
        for name in (TRACER_FILE, RULES_FILE)
        if (Path(folder) / name).is_file()
    }
    if not sources:
        raise InputError(f"{str(folder)!r} holds neither {TRACER_FILE} nor {RULES_FILE}; name a skill folder")
    shipped = packaged()
    trace = _function(folder, TRACER_FILE, "trace", sources)
    judge = _function(folder, RULES_FILE, "judge", sources)
    return Skills(trace=trace or shipped.trace, judge=judge or shipped.judge, hashes=_hashes(sources))


def _hashes(sources: Mapping[str, bytes]) -> dict[str, str]:
    files = {path.name: path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))}
    return {name: digest_bytes(source) for name, source in sorted({**files, **sources}.items())}


def _function(folder: str | Path, file: str, name: str, sources: Mapping[str, bytes]) -> Any:
    if file not in sources:
        return None
    path = Path(folder) / file
    module = ModuleType(path.stem)
    try:
        # Compiled from the bytes that were hashed; an import could run an older compiled file instead.
        exec(compile(sources[file], str(path), "exec"), module.__dict__)
    except Exception as error:
        raise InputError(
            f"{str(path)!r} cannot be loaded: {error!r}; restore the file from its backup"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise InputError(f"{str(path)!r} has no function {name}(); restore the file from its backup")
    return function
