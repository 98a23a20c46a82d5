"""Graders: named functions from (actual, expected) to a `Grade`; an unknown name is an error.

    @grader("starts_with")
    def starts_with(actual, expected):
        return Grade.of(str(actual).startswith(expected), f"expected a text that begins with {expected!r}")

Equality means the same type and the same value at every level: `True` is not `1`, and `1` is not `1.0`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from harness_kit import canonical
from harness_kit.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Grade:
    """What a grader says of one answer."""

    passed: bool
    score: float
    """0 to 1."""
    reason: str
    """Why it did not pass, or ''."""

    @classmethod
    def of(cls, passed: bool, reason: str) -> "Grade":
        """All or nothing; the reason is kept where it did not pass."""
        return cls(passed=passed, score=float(passed), reason="" if passed else reason)


@dataclass(frozen=True, kw_only=True)
class Raised:
    """An exception that a system raised, as an answer: the exact type's name. For the grader `raises`."""

    name: str


Grader: TypeAlias = Callable[[Any, Any], Grade]
_GRADERS: dict[str, Grader] = {}


def grader(name: str) -> Callable[[Grader], Grader]:
    """Register a function as the grader `name`; a name of the kit's own cannot be taken."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"grader name {name!r} is blank; give it a name")

    def register(function: Grader) -> Grader:
        if name in _BUILT_IN:
            raise InputError(f"grader {name!r} is one of the kit's own; choose another name")
        _GRADERS[name] = function
        return function

    return register


def named(name: str) -> Grader:
    """Return the grader of that name; `InputError` naming the known ones otherwise."""
    try:
        return _GRADERS[name]
    except (KeyError, TypeError):
        known = ", ".join(sorted(_GRADERS))
        raise InputError(
            f"grader {name!r} is not known; there are {known}, or write one with @grader"
        ) from None


def grader_hash(name: str) -> str:
    """Return a fingerprint that changes with the grader's code (64 hex digits)."""
    return _hash_of(name, named(name))


@lru_cache(maxsize=512)
def _hash_of(name: str, function: Grader) -> str:
    # By the function itself, so that a grader written anew under its name has a hash of its own.
    return canonical.fingerprint({"name": name, "code": code_of(function)})


def code_of(function: Any) -> str:
    """Return what stands for a function's code: its source, or where there is none its compiled form."""
    import inspect

    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        if code is None:
            return f"{type(function).__module__}.{type(function).__qualname__}"
        return f"{code.co_code.hex()} {code.co_consts!r} {code.co_names!r}"


def same(left: Any, right: Any) -> bool:
    """Say whether two plain values are equal in type and value at every level."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(item, right[key]) for key, item in left.items())
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(same(*pair) for pair in zip(left, right, strict=True))
    return bool(left == right)


def _ordered_exact(actual: Any, expected: Any) -> Grade:
    """The same value; in a list the same items in the same order."""
    return Grade.of(same(actual, expected), "not the expected value in the expected order")


def _unordered(actual: Any, expected: Any) -> Grade:
    """The same items, each as often, in any order."""
    if not isinstance(actual, list) or not isinstance(expected, list):
        return Grade.of(False, f"expected a list, got {type(actual).__name__}")
    left, right = (Counter(map(canonical.text, items)) for items in (actual, expected))
    missing, extra = right - left, left - right
    return Grade.of(left == right, f"missing {list(missing)}, unexpected {list(extra)}")


def _contains_all(actual: Any, expected: Any) -> Grade:
    """Every expected item is in the list, or every expected text in the text; scored by share."""
    found = [_holds(actual, item) for item in expected]
    missing = [item for item, there in zip(expected, found, strict=True) if not there]
    share = sum(found) / len(found) if found else 1.0
    return Grade(passed=not missing, score=share, reason=f"missing {missing}" if missing else "")


def _contains_none(actual: Any, expected: Any) -> Grade:
    """None of the forbidden items is in the list, or none of the forbidden texts in the text."""
    there = [item for item in expected if _holds(actual, item)]
    return Grade.of(not there, f"forbidden and there: {there}")


def _holds(actual: Any, item: Any) -> bool:
    if isinstance(actual, str) and isinstance(item, str):
        return item in actual
    return isinstance(actual, list) and any(same(item, other) for other in actual)


def _number_close(actual: Any, expected: Any) -> Grade:
    """Within a tolerance: expected is a number (relative 1e-9), or {"value", "abs"?, "rel"?}."""
    wanted = expected if isinstance(expected, dict) else {"value": expected}
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return Grade.of(False, f"expected a number, got {type(actual).__name__}")
    near = math.isclose(
        actual, wanted["value"], rel_tol=wanted.get("rel", 1e-9), abs_tol=wanted.get("abs", 0.0)
    )
    return Grade.of(near, f"{actual} is not close to {wanted['value']}")


def _matches(actual: Any, expected: Any) -> Grade:
    """The whole text matches the regular expression."""
    fits = isinstance(actual, str) and re.fullmatch(expected, actual) is not None
    return Grade.of(fits, f"does not match {expected!r}")


def _raises(actual: Any, expected: Any) -> Grade:
    """The system raised exactly the named exception; a subclass does not count."""
    got = actual.name if isinstance(actual, Raised) else "nothing"
    return Grade.of(
        isinstance(actual, Raised) and actual.name == expected, f"expected {expected}, raised {got}"
    )


def _json_subset(actual: Any, expected: Any) -> Grade:
    """Everything in `expected` is in `actual` too, at the same place; more is allowed in objects."""
    return Grade.of(_within(expected, actual), "not all of the expected parts are there")


def _within(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _within(item, whole[key]) for key, item in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(whole, list)
            and len(part) == len(whole)
            and all(_within(*pair) for pair in zip(part, whole, strict=True))
        )
    return same(part, whole)


_BUILT_IN: dict[str, Grader] = {
    "ordered_exact": _ordered_exact, "unordered": _unordered, "contains_all": _contains_all,
    "contains_none": _contains_none, "number_close": _number_close, "matches": _matches, "raises": _raises,
    "json_subset": _json_subset,
}  # fmt: skip
_GRADERS.update(_BUILT_IN)
