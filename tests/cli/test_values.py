from __future__ import annotations

import json
from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.stages import Stage
from envdyno.cli.values import Duration, parse_cpus, parse_deadlines, parse_pairs

keys = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)
figures = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | figures | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)


def test_a_length_of_time_is_read_as_in_a_plan_and_may_be_nothing() -> None:
    assert Duration().convert("1h30m", None, None) == 5400.0
    assert Duration().convert("0s", None, None) == 0.0
    assert Duration().convert(10, None, None) == 10.0


def test_what_is_no_length_of_time_is_bad_input() -> None:
    with pytest.raises(click.BadParameter, match="'soon' is no length of time"):
        Duration().convert("soon", None, None)


@settings(max_examples=40)
@given(st.dictionaries(keys, json_values, max_size=4))
def test_pairs_are_read_back_by_key(pairs: dict[str, Any]) -> None:
    texts = tuple(f"{key}={json.dumps(value)}" for key, value in pairs.items())
    assert parse_pairs(texts) == pairs


def test_only_the_first_equals_sign_divides() -> None:
    assert parse_pairs(("reward=a=b", "empty=")) == {"reward": "a=b", "empty": ""}


@pytest.mark.parametrize("text", ["step_ms", "=1", "1a=2", "a-b=1", " a=1", ""])
def test_what_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write key=value"):
        parse_pairs((text,))


def test_an_option_that_comes_twice_is_refused() -> None:
    with pytest.raises(click.BadParameter, match="'a' is given twice"):
        parse_pairs(("a=1", "b=1", "a=2"))


def test_deadlines_are_read_by_stage() -> None:
    assert parse_deadlines(("build=2m", "window=500ms")) == {Stage.BUILD: 120.0, Stage.WINDOW: 0.5}
    assert parse_deadlines(()) == {}


@pytest.mark.parametrize("text", ["lunch=1s", "build", "build=", "build=soon", "=1s", "BUILD=1s"])
def test_a_deadline_that_is_none_is_refused_with_the_stages(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"STAGE=DURATION .*first_step, warmup"):
        parse_deadlines((text,))


def test_a_stage_with_two_deadlines_is_refused() -> None:
    with pytest.raises(click.BadParameter, match="stage build is given twice"):
        parse_deadlines(("build=1s", "build=2s"))


def test_cpus_are_a_list_or_absent() -> None:
    assert parse_cpus("0-3,8") == (0, 1, 2, 3, 8)
    assert parse_cpus(None) is None
    with pytest.raises(PlacementError, match="not a CPU list"):
        parse_cpus("all")
