"""File names: those that are one and the same file on every system, and no others."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_kit.errors import ConfinementError
from harness_kit.paths import check_name, check_names

GOOD = [
    "report.md",
    "보고서.md",
    "notes/a.md",
    "a/b/c/d.txt",
    "a b.txt",
    ".hidden",
    "console.txt",
    "com.txt",
    "lpt10",
    "é.txt",
    "🙂.md",
    "a" * 255,
    "nul_.txt",
    "a'b.txt",
]
BAD = {
    "": "empty",
    "..": "'..'",
    ".": "'.'",
    "a/../b": "'..'",
    "a//b": "''",
    "a/": "''",
    "./a": "'.'",
    "/etc/x": "absolute",
    "C:\\x": "':'",
    "c:x": "':'",
    "\\\\host\\x": "'\\\\\\\\'",
    "a\\b": "'\\\\\\\\'",
    "a\0b": "U\\+0000",
    "a\nb": "U\\+000A",
    "a\x7fb": "U\\+007F",
    "a\u202eb": "U\\+202E",
    "a\u200bb": "U\\+200B",
    "\ufeffa": "U\\+FEFF",
    "a\u2028b": "U\\+2028",
    "e\u0301.md": "NFC",
    "\ud800": "surrogate",
    "con": "device",
    "CON.txt": "device",
    "a/Nul": "device",
    "com1.md": "device",
    "LPT9": "device",
    "com\u00b9": "device",
    "conin$": "device",
    "aux .txt": "device",
    "a.": "edge",
    "a ": "edge",
    " a": "edge",
    "dir./a": "edge",
    "a<b": "'<'",
    "a|b": "'\\|'",
    "a?": "'\\?'",
    "a*": "'\\*'",
    'a"b': "'\"'",
    "a:b": "':'",
    "a" * 256: "255 bytes",
    "가" * 86: "255 bytes",
    ".harness_kit": "own folder",
    ".harness_kit/x": "own folder",
    "a/.Harness_Kit/x": "own folder",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_plain_relative_name_is_taken_as_it_is(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(("name", "why"), BAD.items(), ids=[ascii(name)[:20] for name in BAD])
def test_a_name_that_means_something_else_somewhere_is_refused(name: str, why: str) -> None:
    with pytest.raises(ConfinementError, match=why):
        check_name(name)


@pytest.mark.parametrize("name", [None, 3, b"a", ("a",)])
def test_a_name_is_text(name: object) -> None:
    with pytest.raises(ConfinementError, match="expected str"):
        check_name(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["a.txt", "A.TXT"], "one file where case"),
        (["straße", "STRASSE"], "one file where case"),
        (["é", "É"], "one file where case"),
        (["a", "a/b"], "also the folder"),
        (["A", "a/b"], "also the folder"),
        ("report.md", "pass a set"),
    ],
)
def test_names_that_would_collide_are_refused_together(names: object, why: str) -> None:
    with pytest.raises(ConfinementError, match=why):
        check_names(names)  # type: ignore[arg-type]


def test_the_same_name_twice_is_one_name() -> None:
    assert check_names(["a", "a", "b/c"]) == {"a", "b/c"}


@given(st.text())
def test_what_is_taken_stays_below_the_root_and_composed(name: str) -> None:
    try:
        check_name(name)
    except ConfinementError:
        return
    assert not name.startswith("/") and ".." not in name.split("/") and "\\" not in name and "\0" not in name
    assert unicodedata.normalize("NFC", name) == name
