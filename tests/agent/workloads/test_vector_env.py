"""Stand-ins for Gymnasium's spaces, which are read by their attributes alone."""

from __future__ import annotations

import sys
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import ArraySpec, Autoreset
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.vector_env import (
    assumed_autoreset,
    looks_like_vector_env,
    processes_of,
    space_spec,
    vector_env_spec,
)


class Discrete:
    def __init__(self, n: int, start: int = 0) -> None:
        self.n = np.int64(n)
        self.start = np.int64(start)


class Renamed(Discrete):
    """A space of somebody's own."""


class MultiDiscrete:
    def __init__(self, nvec: list[int], start: list[int] | None = None) -> None:
        self.nvec = np.array(nvec)
        self.shape = self.nvec.shape
        self.dtype = np.dtype("int64")
        if start is not None:
            self.start = np.array(start)


class MultiBinary:
    shape = (3,)
    dtype = np.dtype("int8")


class Box:
    def __init__(self, low: Any, high: Any, shape: tuple[int, ...], dtype: str = "float32") -> None:
        self.low = np.full(shape, low, dtype)
        self.high = np.full(shape, high, dtype)
        self.shape = shape
        self.dtype = np.dtype(dtype)


class Text:
    pass


def test_a_discrete_space_has_its_first_and_last_value() -> None:
    assert space_spec(Discrete(4)) == ArraySpec((), "int64", 0, 3)
    assert space_spec(Renamed(4, start=-1)) == ArraySpec((), "int64", -1, 2)


def test_several_discrete_actions_have_bounds_of_their_own() -> None:
    assert space_spec(MultiDiscrete([2, 5])) == ArraySpec((2,), "int64", [0, 0], [1, 4])
    assert space_spec(MultiDiscrete([2, 5], start=[1, -2])) == ArraySpec((2,), "int64", [1, -2], [2, 2])
    assert space_spec(MultiBinary()) == ArraySpec((3,), "int8", 0, 1)


def test_equal_bounds_of_a_box_are_one_number_and_others_are_nested() -> None:
    assert space_spec(Box(-1, 1, (3,))) == ArraySpec((3,), "float32", -1.0, 1.0)
    uneven = Box([-1, -2], [1, 2], (2,))
    assert space_spec(uneven) == ArraySpec((2,), "float32", [-1.0, -2.0], [1.0, 2.0])
    assert space_spec(Box(0, 1, (0,))) == ArraySpec((0,), "float32", 0.0, 0.0)


def test_a_space_that_is_no_array_is_not_told() -> None:
    assert space_spec(Text()) is None


@pytest.mark.parametrize(
    "space",
    [Discrete(4, start=2), MultiDiscrete([2, 5], start=[1, 1]), MultiBinary(), Box(0, 255, (2,), "uint8")],
)
@pytest.mark.parametrize("source", ActionSource)
def test_actions_made_for_a_space_are_members_of_it(space: Any, source: ActionSource) -> None:
    spec = space_spec(space)
    assert spec is not None
    for batch in action_ring(spec, 64, source, 5):
        assert batch.shape == (64, *spec.shape)
        assert batch.dtype == spec.dtype
        assert (batch >= np.asarray(spec.low)).all()
        assert (batch <= np.asarray(spec.high)).all()


def test_the_specification_of_a_vector_environment_is_read_off_its_attributes() -> None:
    env = SimpleNamespace(
        num_envs=np.int64(4),
        single_action_space=Box(-1, 1, (3,)),
        single_observation_space=SimpleNamespace(
            spaces={"image": Box(0, 255, (2, 2), "uint8"), "text": Text()}
        ),
        metadata={"autoreset_mode": SimpleNamespace(name="DISABLED")},
        step=None,
        reset=None,
    )
    assert looks_like_vector_env(env)
    spec = vector_env_spec(env, 9)
    assert type(spec.num_envs) is int
    assert spec.num_envs == 4
    assert spec.action == ArraySpec((3,), "float32", -1.0, 1.0)
    assert spec.observation == {"image": ArraySpec((2, 2), "uint8", 0.0, 255.0)}
    assert spec.autoreset is Autoreset.DISABLED


@pytest.mark.parametrize("metadata", [None, {}, {"autoreset_mode": None}])
def test_a_mode_that_is_not_told_is_not_guessed(metadata: Any) -> None:
    env = SimpleNamespace(num_envs=4, single_action_space=Discrete(2), metadata=metadata)
    spec = vector_env_spec(env, 4)
    assert spec.autoreset is None
    assert spec.observation == {}


class AutoresetMode(Enum):
    """As in ``gymnasium.vector``."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


def with_tag(tag: object) -> Any:
    return SimpleNamespace(
        num_envs=4, single_action_space=Discrete(2), metadata={"autoreset_mode": tag}, step=None, reset=None
    )


@pytest.mark.parametrize("member", AutoresetMode)
def test_a_mode_is_told_by_a_member_its_name_or_its_value(member: AutoresetMode) -> None:
    for tag in (member, member.name, member.value, member.name.lower()):
        spec = vector_env_spec(with_tag(tag), 4)
        assert spec.autoreset is Autoreset[member.name], tag


@pytest.mark.parametrize("tag", ["odd", "", "none", "masked", 1, True, False, ["NextStep"]])
def test_a_mode_that_there_is_not_is_refused_in_a_sentence(tag: object) -> None:
    with pytest.raises(WorkloadError, match=r"autoreset_mode=.*NextStep, SameStep, Disabled\."):
        vector_env_spec(with_tag(tag), 4)


def test_a_vector_of_gymnasium_that_tells_no_mode_is_taken_for_next_step_as_gymnasium_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class VectorEnv:
        """Stands for ``gymnasium.vector.VectorEnv``."""

    class Mine(VectorEnv):
        pass

    monkeypatch.setitem(sys.modules, "gymnasium.vector", SimpleNamespace(VectorEnv=VectorEnv))
    mode, assumption = assumed_autoreset(Mine())
    assert mode is Autoreset.NEXT_STEP
    assert "Mine" in assumption
    assert "metadata['autoreset_mode']" in assumption
    assert assumed_autoreset(with_tag(None))[0] is Autoreset.SAME_STEP


def test_environments_in_processes_of_their_own_are_known_by_their_vector() -> None:
    class AsyncVectorEnv:
        num_envs = 3

    class Mine(AsyncVectorEnv):
        pass

    class Wrapped:
        unwrapped = Mine()

    assert [processes_of(env) for env in (Mine(), Wrapped(), with_tag(None))] == [3, 3, 0]


def test_a_plain_environment_does_not_look_like_a_vector_environment() -> None:
    assert not looks_like_vector_env(SimpleNamespace(step=None, reset=None, action_space=Discrete(2)))
