"""Amounts: text to integers of the minor unit, and integers shared out without losing one.

    >>> parse_amount("(1,234)", "KRW"), parse_amount("△500", "KRW"), parse_amount("12.5", "USD")
    (-1234, -500, 1250)
    >>> apportion(97, [60, 40])
    [58, 39]

An amount with more decimals than its currency has is refused, never rounded, even where they are zeros:
a '1000.00' in won may as well be 10 won shifted by the two decimals that some exports assume.
"""

import re
import unicodedata
from collections.abc import Sequence

from harness_kit.errors import InputError

EXPONENTS = {
    **dict.fromkeys(("KRW", "JPY", "VND", "CLP", "ISK", "PYG", "UGX", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("AED", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD"), 2),
    **dict.fromkeys(("HUF", "IDR", "ILS", "INR", "KZT", "MNT", "MOP", "MXN", "MYR", "NOK", "NZD", "PHP"), 2),
    **dict.fromkeys(("PLN", "QAR", "RON", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD"), 2),
    **dict.fromkeys(("UZS", "ZAR"), 2),
}
"""Decimals of each currency (ISO 4217)."""

_MARKS = {"KRW": ("₩", "원", "KRW"), "USD": ("$", "USD"), "EUR": ("€", "EUR"), "JPY": ("¥", "JPY")}
_NUMBER = re.compile(r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?P<part>[0-9]+))?", re.ASCII)
_MINUS = str.maketrans({"−": "-", "–": "-", "△": "-", "▲": "-", "▵": "-"})


def exponent(currency: str) -> int:
    """Return the number of decimals of `currency`; `InputError` where it is not known."""
    try:
        return EXPONENTS[currency]
    except KeyError:
        raise InputError(
            f"{currency!r} is no currency that is known here; expected an ISO 4217 code such as KRW or USD"
        ) from None


def parse_amount(text: str, currency: str) -> int:
    """Return `text` in minor units of `currency`; blank and a lone '-' are 0; `InputError` otherwise."""
    decimals = exponent(currency)
    if text.isascii() and text.isdigit():
        return int(text + "0" * decimals)
    plain = unicodedata.normalize("NFKC", text).translate(_MINUS).strip()
    if plain in ("", "-"):
        return 0
    body, signs = _unsigned(plain, _MARKS.get(currency, (currency,)))
    match = _NUMBER.fullmatch(body)
    if match is None or len(signs) > 1:
        raise InputError(
            f"{text!r} is no amount; expected digits, with commas by threes or none, and one sign at most: "
            "1,234 or (1,234) or △1,234"
        )
    part = match["part"] or ""
    if len(part) > decimals:
        raise InputError(
            f"{text!r} has {len(part)} decimals and {currency} has {decimals}; "
            "amounts are never rounded: export it in the currency's own unit"
        )
    value = int(match["whole"].replace(",", "") + part.ljust(decimals, "0"))
    return -value if signs == "-" else value


def _unsigned(text: str, marks: tuple[str, ...]) -> tuple[str, str]:
    """Take brackets, signs and one currency mark off the ends; return what is left, and the signs seen."""
    signs, marked = "", False
    while text:
        if text[0] == "(" and text[-1] == ")":
            text, signs = text[1:-1].strip(), signs + "-"
        elif text[0] in "+-":
            text, signs = text[1:].strip(), signs + text[0]
        elif text[-1] == "-":
            text, signs = text[:-1].strip(), signs + "-"
        else:
            bare = text if marked else _unmarked(text, marks)
            if bare == text:
                break
            text, marked = bare, True
    return text, signs


def _unmarked(text: str, marks: tuple[str, ...]) -> str:
    for mark in marks:
        if text.startswith(mark):
            return text[len(mark) :].strip()
        if text.endswith(mark):
            return text[: -len(mark)].strip()
    return text


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """Share `total` out in proportion to `weights` by largest remainder; ties go to the earlier place.

    The parts are whole, none is negative, and they sum to `total`. Where `total` is at most the sum of the
    weights, no part is larger than its weight. All weights 0: all parts 0, and `total` must be 0.
    """
    whole = sum(weights)
    if total < 0 or any(weight < 0 for weight in weights) or (total and not whole):
        raise InputError(f"cannot share {total} by {list(weights)[:8]}; expected no negative and some weight")
    if not whole:
        return [0] * len(weights)
    parts = [total * weight // whole for weight in weights]
    left = total - sum(parts)
    if left:
        by_remainder = sorted(range(len(parts)), key=lambda place: (-(total * weights[place] % whole), place))
        for place in by_remainder[:left]:
            parts[place] += 1
    return parts
