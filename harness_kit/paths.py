"""Names of files inside a workspace: the ones that mean the same file on every system, and no others."""

import re
import unicodedata
from collections.abc import Iterable

from harness_kit.errors import ConfinementError

RESERVED_FOLDER = ".harness_kit"
"""The workspace's own folder; no file name may lie in it."""
MAX_PART_BYTES = 255

_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)
_FORBIDDEN = set('<>:"|?*\\')


def check_name(name: str) -> str:
    """Return `name` if it is a plain relative file name such as `report.md` or `notes/a.md`.

    `ConfinementError` says what is wrong with any other.
    """
    if not isinstance(name, str):
        raise ConfinementError(f"file name {name!r} is {type(name).__name__}; expected str")
    fault = _fault(name)
    if fault:
        raise ConfinementError(f"file name {name!r} {fault}; use a relative name such as 'notes/report.md'")
    return name


def _fault(name: str) -> str:
    if not name:
        return "is empty"
    for letter in name:
        kind = unicodedata.category(letter)
        if kind == "Cs":
            return "holds a lone surrogate"
        if kind in ("Cc", "Cf", "Zl", "Zp"):
            return f"holds the invisible character U+{ord(letter):04X}"
        if letter in _FORBIDDEN:
            return f"holds {letter!r}, which not every system allows"
    if unicodedata.normalize("NFC", name) != name:
        return f"is not in composed form (NFC); write {unicodedata.normalize('NFC', name)!r}"
    if name.startswith("/"):
        return "is absolute"
    for part in name.split("/"):
        if part in ("", ".", ".."):
            return f"has the part {part!r}, which leads elsewhere"
        if part[-1] in ". " or part[0] == " ":
            return f"has the part {part!r} with a blank or dot at its edge, which Windows drops"
        if _DEVICE.fullmatch(part.split(".")[0].rstrip(" ")):
            return f"has the part {part!r}, a device name on Windows"
        if len(part.encode("utf-8")) > MAX_PART_BYTES:
            return f"has a part of more than {MAX_PART_BYTES} bytes"
        if fold(part) == RESERVED_FOLDER:
            return f"lies in {RESERVED_FOLDER!r}, the workspace's own folder"
    return ""


def check_names(names: Iterable[str]) -> frozenset[str]:
    """Check every name, and that no two of them are one file on some system. Return them as a set."""
    if isinstance(names, str | bytes):
        raise ConfinementError(f"{names!r} is one name; pass a set of names such as {{{names!r}}}")
    checked = [check_name(name) for name in names]
    by_fold: dict[str, str] = {}
    for name in checked:
        other = by_fold.setdefault(fold(name), name)
        if other != name:
            raise ConfinementError(
                f"file names {other!r} and {name!r} are one file where case does not count; rename one"
            )
    for name in checked:
        parts = fold(name).split("/")
        for end in range(1, len(parts)):
            folder = by_fold.get("/".join(parts[:end]))
            if folder is not None:
                raise ConfinementError(f"{folder!r} is a file and also the folder of {name!r}; rename one")
    return frozenset(checked)


def fold(name: str) -> str:
    """Return the form in which two names are one file on a system that ignores case."""
    return unicodedata.normalize("NFC", name.casefold())
