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


def by_the_standard_library(text: str) -> object:
    """What Python's own parser makes of a text, held to the same rules."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    def finite(digits: str) -> float:
        assert abs(float(digits)) != float("inf")
        return float(digits)

    def refuse(token: str) -> None:
        raise AssertionError(token)

    return json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=refuse)


almost_json = st.one_of(
    values.map(json.dumps),
    values.map(lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)),
    st.text(st.sampled_from('{}[]",:\\u0d8 -+.eE19naInfity\n\t'), max_size=24),
    st.builds(
        '{{"{}":{},"{}":{}}}'.format,
        st.sampled_from("ab"),
        st.integers(),
        st.sampled_from("ab"),
        values.map(json.dumps),
    ),
)


@settings(max_examples=300)
@given(almost_json)
def test_the_quick_way_reads_what_the_standard_library_reads_and_refuses_what_it_refuses(text: str) -> None:
    try:
        wanted = by_the_standard_library(text)
    except (ValueError, AssertionError, RecursionError):
        with pytest.raises(NotStrictJson):
            loads(text)
        return
    found = loads(text)
    assert repr(found) == repr(wanted), "equal, and of the same types: 1 is not 1.0, nor True"


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


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"b":{"a":1,"a":2}}]'])
def test_a_key_that_comes_twice_is_refused_in_the_compact_form_too(text: str) -> None:
    with pytest.raises(NotStrictJson, match="'a' twice"):
        loads(text)


def test_a_key_that_comes_twice_is_refused_by_name() -> None:
    with pytest.raises(NotStrictJson, match="'rate' twice"):
        loads('{"a": {"rate": 1, "b": 2, "rate": 3}}')


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "9" * 100_000])
def test_a_text_made_to_exhaust_the_reader_is_refused(text: str) -> None:
    with pytest.raises(NotStrictJson):
        loads(text)
