r"""Cells other than money: identifiers cleaned, dates read, and nothing guessed.

>>> identifier(" Ｓ０１\u200b "), identifier("N/A"), identifier("0010")
('S01', '', '0010')
>>> parse_date("2024년 2월 29일")
datetime.date(2024, 2, 29)
"""

import re
import unicodedata
from collections.abc import Container
from datetime import date, timedelta
from functools import lru_cache

from harness_kit.errors import InputError

BLANK = frozenset({"", "-", "--", "–", "—", "nan", "none", "null", "n/a", "na", "#n/a", "nat"})
"""Cleaned, lower-case texts that systems write where they hold nothing."""

FIRST_SERIAL, LAST_SERIAL = 20000, 99999
"""Excel day numbers taken as dates: 1954-10-03 to 2173-10-13. Others are more likely something else."""

_EPOCH = date(1899, 12, 30)
_FORMS = (
    re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[T ]00:00(?::00(?:\.0+)?)?)?", re.ASCII),
    re.compile(r"([0-9]{4})([/.])([0-9]{1,2})\2([0-9]{1,2})\.?", re.ASCII),
    re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})", re.ASCII),
    re.compile(r"([0-9]{4})년 ?([0-9]{1,2})월 ?([0-9]{1,2})일", re.ASCII),
)


def clean(text: str) -> str:
    """Return `text` in NFKC, without control and format characters, trimmed."""
    if text.isascii() and text.isprintable():
        return text.strip()
    letters = (
        letter
        for letter in unicodedata.normalize("NFKC", text)
        if unicodedata.category(letter) not in ("Cf", "Cc")
    )
    return "".join(letters).strip()


def identifier(text: str, known: Container[str] = frozenset()) -> str:
    """Return the cleaned identifier, '' for a blank-like one; what `known` lists is never blank."""
    cleaned = clean(text)
    if cleaned in known:
        return cleaned
    return "" if len(cleaned) <= 4 and cleaned.lower() in BLANK else cleaned


@lru_cache(maxsize=4096)
def parse_date(text: str) -> date:
    """Return the day that `text` names, year first or as an Excel day number; `InputError` otherwise."""
    plain = clean(text)
    for form in _FORMS:
        if match := form.fullmatch(plain):
            year, month, day = (int(group) for group in match.groups() if group.isdigit())
            try:
                found = date(year, month, day)
            except ValueError:
                raise InputError(f"{text!r} is no day of the calendar; mend the date") from None
            if not 1900 <= year <= 2199:
                raise InputError(f"{text!r} lies outside 1900 to 2199; mend the year")
            return found
    if re.fullmatch(r"[0-9]{5}", plain, re.ASCII) and FIRST_SERIAL <= int(plain) <= LAST_SERIAL:
        return _EPOCH + timedelta(days=int(plain))
    raise InputError(
        f"{text!r} is no date; expected 2024-02-29, 20240229, 2024년 2월 29일 or an Excel day number"
    )
