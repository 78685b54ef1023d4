from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.workloads.near import did_you_mean, near_names

KNOWN = ("CartPole-v1", "Ant-v4", "Ant-v5", "Humanoid-v5", "fast", "go2_joystick_flat/mujoco")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("CartPol-v1", "CartPole-v1"),
        ("Ant-v6", "Ant-v5"),
        ("fats", "fast"),
        ("cartpole-v1", "CartPole-v1"),
        ("FAST", "fast"),
        ("go2_joystick/mujoco", "go2_joystick_flat/mujoco"),
    ],
)
def test_a_slip_of_the_pen_is_met_with_what_was_meant(wrong: str, meant: str) -> None:
    assert meant in near_names(wrong, KNOWN)
    assert meant in did_you_mean(wrong, KNOWN)


def test_what_is_like_nothing_is_met_with_no_guess() -> None:
    assert did_you_mean("my_robot", KNOWN) == ""
    assert did_you_mean("Ant-v6", ()) == ""


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=8))
def test_only_names_that_are_known_are_proposed_each_once(name: str, known: list[str]) -> None:
    near = near_names(name, known)
    assert set(near) <= set(known)
    assert len(near) == len(set(near)) <= 3


@given(st.text(min_size=1, max_size=20))
def test_a_name_is_nearest_to_itself(name: str) -> None:
    assert near_names(name, [name, "something else"])[0] == name
