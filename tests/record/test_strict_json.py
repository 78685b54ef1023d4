from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.record.strict_json import NotStrictJson, loads

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=40)
@given(values)
def test_what_is_strict_json_is_read_as_it_was_written(value: object) -> None:
    assert loads(json.dumps(value, allow_nan=False)) == value


@settings(max_examples=40)
@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(NotStrictJson):
        json.dumps(loads(text), allow_nan=False)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", '{"a": [1, NaN]}'])
def test_a_number_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(NotStrictJson):
        loads(token)


def test_the_text_nan_is_a_text() -> None:
    assert loads('{"name": "NaN", "other": "Infinity"}') == {"name": "NaN", "other": "Infinity"}


@pytest.mark.parametrize("text", ["", "{", '{"a":1,}', "'a'", "[1 2]", "{}{}", "tru", '{"a":1}x', "\ufeff{}"])
def test_what_is_malformed_is_refused(text: str) -> None:
    with pytest.raises(NotStrictJson, match="not JSON"):
        loads(text)


def test_a_key_that_comes_twice_is_refused_by_name() -> None:
    with pytest.raises(NotStrictJson, match="'rate' twice"):
        loads('{"a": {"rate": 1, "b": 2, "rate": 3}}')


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "9" * 100_000])
def test_a_text_made_to_exhaust_the_reader_is_refused(text: str) -> None:
    with pytest.raises(NotStrictJson):
        loads(text)
