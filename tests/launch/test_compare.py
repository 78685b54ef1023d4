from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.launch.compare import action_difference

SPACE = {"shape": [12], "dtype": "float32", "low": -1.0, "high": 1.0}
bounds = st.none() | st.floats(-9, 9) | st.lists(st.floats(-9, 9), min_size=2, max_size=2)
spaces = st.none() | st.fixed_dictionaries(
    {
        "shape": st.sampled_from([[2], [3], []]),
        "dtype": st.sampled_from(["float32", "int64"]),
        "low": bounds,
        "high": bounds,
    }
)


@settings(max_examples=40)
@given(spaces)
def test_an_action_space_does_not_differ_from_itself(space: dict[str, Any] | None) -> None:
    assert action_difference(space, space) is None
    assert action_difference(space, None if space is None else dict(space)) is None


@settings(max_examples=40)
@given(spaces, spaces)
def test_a_difference_is_one_whichever_side_comes_first(
    first: dict[str, Any] | None, second: dict[str, Any] | None
) -> None:
    forth, back = action_difference(first, second), action_difference(second, first)
    assert (forth is None) == (back is None) == (first == second)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": [29]}, "shape [12] against [29]"),
        ({"dtype": "int64"}, "dtype float32 against int64"),
        ({"low": -2.0, "high": 2.0}, "low -1.0 against -2.0, high 1.0 against 2.0"),
        ({"low": None}, "low -1.0 against None"),
    ],
)
def test_the_difference_is_named(changes: dict[str, Any], words: str) -> None:
    assert action_difference(SPACE, {**SPACE, **changes}) == words


def test_what_is_no_part_of_the_space_makes_no_difference() -> None:
    assert action_difference(SPACE, {**SPACE, "name": "joints"}) is None


def test_a_space_that_is_not_told_differs_from_one_that_is() -> None:
    assert "does not tell" in (action_difference(SPACE, None) or "")
    assert action_difference(None, None) is None
