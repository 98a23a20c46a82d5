"""Whether the chapters still print what they must, to the byte."""

from dataclasses import dataclass

from harness_kit.errors import InputError
from harness_kit.resources import data_path
from harness_kit.scenarios import CHAPTERS, Chapter


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """One chapter held against its expected output."""

    name: str
    difference: str
    """The first difference in words; '' where the output is identical."""

    @property
    def line(self) -> str:
        """One line of report."""
        return f"{self.name}: {self.difference or 'identical'}"


def chapter_named(name: str) -> Chapter:
    """Return the chapter of that name or number; `InputError` where there is none."""
    for chapter in CHAPTERS:
        if name in (chapter.name, chapter.number):
            return chapter
    known = ", ".join(chapter.name for chapter in CHAPTERS)
    raise InputError(f"there is no chapter {name!r}; there are: {known}")


def printed(chapter: Chapter) -> bytes:
    """Run a chapter and return the exact bytes that it prints."""
    return "".join(f"{line}\n" for line in chapter.lines()).encode("utf-8")


def check(chapter: Chapter) -> Reproduction:
    """Run a chapter and hold it against `data/golden`."""
    expected = data_path("golden", chapter.golden).read_bytes()
    return Reproduction(name=chapter.name, difference=first_difference(expected, printed(chapter)))


def first_difference(expected: bytes, actual: bytes) -> str:
    """Say where two outputs first differ, in words; '' where they are the same bytes."""
    if expected == actual:
        return ""
    wanted, got = expected.split(b"\n"), actual.split(b"\n")
    for number, (left, right) in enumerate(zip(wanted, got, strict=False), 1):
        if left != right:
            return f"line {number}: expected {_text(left)}, got {_text(right)}"
    longer, what = (wanted, "is missing") if len(wanted) > len(got) else (got, "was not expected")
    number = min(len(wanted), len(got)) + 1
    return f"line {number}: {_text(longer[number - 1])} {what}"


def _text(line: bytes) -> str:
    return repr(line.decode("utf-8", errors="backslashreplace"))
