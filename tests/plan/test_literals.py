from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.plan.literals import literal, parse_literal

figures = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | figures | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(json_values)
def test_json_is_read_as_what_it_is(value: Any) -> None:
    assert parse_literal(json.dumps(value)) == value


@settings(max_examples=40)
@given(json_values)
def test_what_is_written_is_read_back_with_its_type(value: Any) -> None:
    again = parse_literal(literal(value))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    "text", ["", "mujoco", "a b", "NaN", "Infinity", "-Infinity", "1e999", "True", "[1", "'a'", "[" * 100_000]
)
def test_what_is_no_json_is_text(text: str) -> None:
    assert parse_literal(text) == text
    assert literal(text) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("mujoco", "mujoco"),
        ("3", '"3"'),
        (3, "3"),
        (True, "true"),
        (None, "null"),
        ("null", '"null"'),
        (0.5, "0.5"),
        ([1, "a"], '[1, "a"]'),
        ('"', '"'),
        ('"quoted"', r'"\"quoted\""'),
    ],
)
def test_words_are_plain_and_all_else_is_json(value: Any, text: str) -> None:
    assert literal(value) == text
