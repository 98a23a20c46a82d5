"""Whether a process that left a mark still runs. Row 0: knows nothing of ledgers."""

import os
import sys
from functools import lru_cache
from pathlib import Path


def own_mark() -> str:
    """Return the mark of the calling process; a forked child gets its own."""
    return _cached_mark(os.getpid())


@lru_cache(maxsize=1)
def _cached_mark(pid: int) -> str:
    return process_mark(pid)


def process_mark(pid: int) -> str:
    """Return a mark for process `pid`: its number and, where the system tells, when it began.

    The beginning tells a process from a later one that was given the same number.
    """
    return f"{pid}:{_began(pid)}"


def is_alive(mark: str) -> bool:
    """Say whether the process that `process_mark` named still runs; unreadable marks count as gone."""
    number, _, began = mark.partition(":")
    if not number.isdigit() or not _exists(int(number)):
        return False
    return began == _began(int(number))


def _began(pid: int) -> str:
    """Clock ticks since boot from Linux's /proc, or '' on systems without it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is a name in brackets that may itself hold blanks and brackets.
    fields = stat.rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] != "Z" else ""


def _exists(pid: int) -> bool:
    if sys.platform == "win32":  # pragma: no cover - signal 0 would end a console process there
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
        if not handle:
            return False
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == 259  # STILL_ACTIVE
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
