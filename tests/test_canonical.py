"""Canonical JSON: one value, one byte string; what cannot be said the same way twice is refused."""

import enum
import hashlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_kit.canonical import digest_bytes, dumps, fingerprint, loads
from harness_kit.errors import CanonicalError

scalars = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**30), max_value=10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)


def shuffled(value: Any) -> Any:
    """The same value with every dict's keys inserted the other way round."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [shuffled(item) for item in value]
    return value


def test_the_form_is_the_one_written_down() -> None:
    assert dumps({"b": [1, 1.5, True, None], "a": "가"}) == '{"a":"가","b":[1,1.5,true,null]}'.encode()
    assert fingerprint([]) == hashlib.sha256(b"harness_kit.canonical.v1\n[]").hexdigest()
    assert digest_bytes(b"") == hashlib.sha256(b"").hexdigest()


@given(values)
def test_insertion_order_changes_no_byte_and_the_bytes_read_back(value: Any) -> None:
    assert dumps(value) == dumps(shuffled(value))
    assert loads(dumps(value)) == value
    assert fingerprint(value) == fingerprint(json.loads(json.dumps(value)))


def test_values_that_compare_equal_but_are_not_the_same_have_other_bytes() -> None:
    assert len({dumps(value) for value in (1, 1.0, True, "1", [1])}) == 5
    assert dumps("\u00e9") != dumps("e\u0301"), "one letter composed, the other decomposed"
    assert dumps((1, 2)) == dumps([1, 2])


class Colour(enum.StrEnum):
    RED = "red"


def test_enumerations_of_text_are_their_text() -> None:
    assert dumps({Colour.RED: Colour.RED}) == b'{"red":"red"}'


circular: list[Any] = []
circular.append(circular)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [0, math.nan]}, r"\$\.a\[1\] is nan"),
        ({"a": math.inf}, r"\$\.a is inf"),
        ([-math.inf], r"\$\[0\] is -inf"),
        ({"a": {1: 2}}, r"\$\.a has the key 1 \(int\)"),
        ({None: 1}, r"\$ has the key None"),
        ({"a": {"b": {1, 2}}}, r"\$\.a\.b is a set"),
        ({"a": b"x"}, r"\$\.a is a bytes"),
        (["ok", "\ud800"], r"\$\[1\] holds a lone surrogate at index 0"),
        ({"k\udfff": 1}, r"key holds a lone surrogate at index 1"),
        (object(), r"\$ is a object"),
        (circular, "nested deeper than 200"),
        ([10**5000], r"\$\[0\] is an integer of 16610 bits"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_path(value: Any, path: str) -> None:
    with pytest.raises(CanonicalError, match=path):
        dumps(value)


def test_depth_is_bounded() -> None:
    deep: Any = 0
    for _ in range(199):
        deep = [deep]
    assert dumps(deep).count(b"[") == 199
    for _ in range(50):
        deep = {"x": deep}
    with pytest.raises(CanonicalError, match="nested deeper"):
        dumps(deep)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        "NaN",
        "[Infinity]",
        "{",
        b"\xff",
        "",
        "[" * 100_000,
        "9" * 5000,
        "1e999",
        '"\\ud800"',
    ],
    ids=len,
)
def test_reading_is_strict(text: str | bytes) -> None:
    with pytest.raises(CanonicalError):
        loads(text)
