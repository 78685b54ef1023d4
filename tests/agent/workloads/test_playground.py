"""MuJoCo Playground against a stand-in with the same interface; its JAX is NumPy inside."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.step_log import Totals, as_tally
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.playground import build
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 3
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


@dataclass(frozen=True)
class State:
    """What an environment hands on from step to step."""

    obs: Any
    reward: Any
    done: Any
    ages: Any
    info: Any = None


@dataclass
class WrappedEnv:
    """An environment behind Playground's training wrapper: row k is cut after ``limit - k`` steps."""

    limit: int
    transitions: int = 0
    ended: int = 0
    ended_steps: int = 0
    seeds: list[Any] = field(default_factory=list)

    def reset(self, keys: Any) -> State:
        self.seeds.append(keys)
        zeros = np.zeros(len(keys))
        return State({"state": np.zeros((len(keys), 5), "float32")}, zeros, zeros, zeros)

    def step(self, state: State, actions: Any) -> State:
        assert actions.shape == (NUM_ENVS, 2)
        ages = state.ages + 1
        done = (ages >= self.limit - np.arange(len(ages))).astype(float)
        self.transitions += len(ages)
        self.ended += int(done.sum())
        self.ended_steps += int(ages[done > 0].sum())
        return replace(
            state,
            reward=np.full(len(ages), 0.25),
            done=done,
            ages=np.where(done > 0, 0, ages),
            info={"steps": ages},
        )


@pytest.fixture
def wrapped(monkeypatch: pytest.MonkeyPatch) -> list[WrappedEnv]:
    """Put the stand-ins in place; return the environments that are made."""
    made: list[WrappedEnv] = []
    waited: list[Any] = []

    def load(name: str) -> Any:
        if name == "Go1JoystickFlatTerrain":
            raise RuntimeError("cannot clone mujoco_menagerie")
        return SimpleNamespace(observation_size={"state": (5,)}, action_size=2, n_substeps=4, dt=0.02)

    def wrap(env: Any, episode_length: int, action_repeat: int) -> WrappedEnv:
        made.append(WrappedEnv(episode_length))
        return made[-1]

    jax: Any = ModuleType("jax")
    jax.numpy = np
    jax.jit = lambda function: function
    jax.block_until_ready = waited.append
    jax.device_put = lambda batch: batch
    jax.default_backend = lambda: "cpu"
    jax.waited = waited
    jax.random = SimpleNamespace(PRNGKey=lambda seed: seed, split=lambda key, count: [key] * count)
    playground: Any = ModuleType("mujoco_playground")
    # The package hands these out as attributes; they are no modules that can be imported by these names.
    playground.registry = SimpleNamespace(
        ALL_ENVS=("CheetahRun", "Go1JoystickFlatTerrain"),
        load=load,
        get_default_config=lambda name: SimpleNamespace(episode_length=7),
    )
    playground.wrapper = SimpleNamespace(wrap_for_brax_training=wrap)
    for stand_in in (jax, playground):
        monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    return made


def test_counts_are_those_of_the_environment(wrapped: list[WrappedEnv]) -> None:
    workload = build(NUM_ENVS, 11, "CheetahRun", CONTEXT)
    workload.reset()
    (env,) = wrapped
    (actions,) = workload.make_actions(source="fixed", seed=1, batches=1)
    totals = Totals()
    for _ in range(20):
        totals.add(as_tally(workload.step(actions), NUM_ENVS))
    assert env.seeds == [[11] * NUM_ENVS]
    assert totals.transitions == env.transitions == 20 * NUM_ENVS
    assert totals.episodes == env.ended == 20 // 7 + 20 // 6 + 20 // 5
    assert totals.reward_sum == 0.25 * totals.transitions
    assert workload.work() == {"episode_steps": env.ended_steps}
    workload.reset()
    workload.step(actions)
    assert workload.work() == {"episode_steps": env.ended_steps}, "what a reset cut off has not ended"


@pytest.mark.usefixtures("wrapped")
def test_a_check_counts_the_rows_that_moved_by_the_wrappers_own_account() -> None:
    workload = build(NUM_ENVS, 0, "CheetahRun", CONTEXT._replace(check=True))
    workload.reset()
    (actions,) = workload.make_actions(source="zero", seed=1, batches=1)
    assert workload.count_inside is not None
    for steps in range(1, 13):
        workload.step(actions)
        assert workload.count_inside() == NUM_ENVS * steps
    workload.reset()
    workload.step(actions)
    assert workload.count_inside() == NUM_ENVS * 13


@pytest.mark.usefixtures("wrapped")
def test_a_row_that_stands_still_is_missing_from_the_count_inside() -> None:
    workload = build(NUM_ENVS, 0, "CheetahRun", CONTEXT._replace(check=True))
    workload.reset()
    (actions,) = workload.make_actions(source="zero", seed=1, batches=1)
    workload.step(actions)
    workload._ages = np.array([1, 0, 0])  # as if the latter two had not moved before
    workload.step(actions)
    assert workload.count_inside is not None
    assert workload.count_inside() == NUM_ENVS + 1


def test_the_specification_is_that_of_the_environment(wrapped: list[WrappedEnv]) -> None:
    spec = build(NUM_ENVS, 0, "CheetahRun", CONTEXT, episode_length=9).spec
    assert (spec.autoreset, spec.substeps, spec.step_dt_s) == (Autoreset.SAME_STEP, 4, 0.02)
    assert spec.episode_limit_steps == wrapped[0].limit == 9
    assert spec.observation["state"].shape == (5,)
    assert spec.action is not None
    assert (spec.action.shape, spec.action.low, spec.action.high) == ((2,), -1.0, 1.0)


@pytest.mark.usefixtures("wrapped")
def test_each_step_waits_for_the_one_before_the_last_and_an_edge_for_all() -> None:
    workload = build(NUM_ENVS, 0, "CheetahRun", CONTEXT)
    workload.reset()
    waited = sys.modules["jax"].waited
    (actions,) = workload.make_actions(source="zero", seed=1, batches=1)
    for steps in range(1, 6):
        workload.step(actions)
        assert len(waited) == max(0, steps - 2)
    workload.synchronize()
    assert waited[-1] is workload._state
    assert workload._waiting == []


@pytest.mark.usefixtures("wrapped")
def test_what_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(WorkloadError, match="It has: CheetahRun"):
        build(NUM_ENVS, 0, "Nowhere", CONTEXT)
    with pytest.raises(WorkloadError, match="fetched from the network"):
        build(NUM_ENVS, 0, "Go1JoystickFlatTerrain", CONTEXT)
