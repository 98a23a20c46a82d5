"""Canonical JSON and fingerprints: the same value gives the same bytes on every machine.

    >>> dumps({"b": 1, "a": [True, None]})
    b'{"a":[true,null],"b":1}'

Only plain JSON values are taken: dict with string keys, list or tuple, str, int, float, bool, None.
What JSON cannot say the same way twice (NaN, infinities, other keys, lone surrogates) or cannot say
at all (sets, bytes, objects) is refused with the path to it. Keys are sorted by code point; text is
UTF-8 and not normalised, so two spellings of one letter are two values. `1`, `1.0` and `True` differ.
"""

import hashlib
import json
import math
from typing import Any, NoReturn

from harness_kit.errors import CanonicalError

PREFIX = b"harness_kit.canonical.v1\n"
"""Stands before the hashed bytes, so that a later form can never give the same fingerprint."""

MAX_DEPTH = 200
"""Levels of nesting; deeper values (and circular ones) are refused."""

_encoder = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
)


def dumps(value: Any) -> bytes:
    """Return the canonical UTF-8 bytes of `value`; `CanonicalError` where there are none."""
    return text(value).encode("utf-8")


def text(value: Any) -> str:
    """Return the canonical form as text."""
    try:
        if _keys_are_strings(value, MAX_DEPTH):
            encoded = _encoder.encode(value)
            if not encoded.isascii():
                encoded.encode("utf-8")  # refuses lone surrogates
            return encoded
    except (TypeError, ValueError, RecursionError):
        pass
    _explain(value, "$", 0)
    raise CanonicalError(f"{type(value).__name__} value has no canonical JSON form; use plain JSON values")


def fingerprint(value: Any) -> str:
    """Return the SHA-256 (64 hex digits) of the version prefix and the canonical bytes of `value`."""
    return hashlib.sha256(PREFIX + dumps(value)).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Return the plain SHA-256 (64 hex digits) of `data`, as `sha256sum` prints it."""
    return hashlib.sha256(data).hexdigest()


def loads(data: bytes | str) -> Any:
    """Parse JSON strictly: duplicate keys, NaN, infinities and lone surrogates are refused."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        text.encode("utf-8")
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
        )
    except CanonicalError:
        raise
    except (ValueError, AttributeError, RecursionError) as error:
        raise CanonicalError(f"not JSON: {error}; expected one UTF-8 JSON value") from error
    if "\\u" in text:
        dumps(value)  # an escape is the one way left in for a lone surrogate
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise CanonicalError(f"key {twice!r} stands twice in one object; keep one")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise CanonicalError(f"{name} is no finite JSON number; use null or a string")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text)


def _keys_are_strings(value: Any, depth: int) -> bool:
    """The one check that the C encoder does not make: it turns other keys into strings silently.

    The exact types come first, since nearly every value is of one and this runs for every event.
    """
    kind = type(value)
    if kind in _SCALARS:
        return True
    if depth <= 0:
        return False
    if kind is dict or isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                return False
            if type(item) not in _SCALARS and not _keys_are_strings(item, depth - 1):
                return False
        return True
    if isinstance(value, list | tuple):
        for item in value:
            if type(item) not in _SCALARS and not _keys_are_strings(item, depth - 1):
                return False
        return True
    return isinstance(value, str | int | float)


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _explain(value: Any, path: str, depth: int) -> None:
    """Raise with the path to the first part that has no canonical form."""
    if depth > MAX_DEPTH:
        raise CanonicalError(f"{path[:80]}… is nested deeper than {MAX_DEPTH} levels or circular; flatten it")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _explain_text(value, path)
    elif isinstance(value, int):
        try:
            str(int(value))
        except ValueError as error:
            raise CanonicalError(
                f"{path} is an integer of {value.bit_length()} bits; send it as a string"
            ) from error
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise CanonicalError(f"{path} is {value!r}; expected a finite number, use None or a string")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise CanonicalError(
                    f"{path} has the key {key!r} ({type(key).__name__}); keys must be strings"
                )
            _explain_text(key, f"{path} key")
            _explain(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _explain(item, f"{path}[{index}]", depth + 1)
    else:
        raise CanonicalError(
            f"{path} is a {type(value).__name__}; expected dict, list, str, int, float, bool or None"
        )


def _explain_text(text: str, path: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CanonicalError(
            f"{path} holds a lone surrogate at index {error.start}; decode the text as UTF-8 first"
        ) from error
