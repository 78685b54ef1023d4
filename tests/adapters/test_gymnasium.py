"""Gymnasium for real: what envdyno counts is what the environments counted inside themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from counted_gym import counted, make, make_clockwork

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.built import accept, settle_counting
from envdyno.agent.workloads.contract import Autoreset, BuildContext, Tally
from envdyno.agent.workloads.gymnasium import build
from envdyno.agent.workloads.gymnasium_count import watch_vector
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 5
STEPS = 150
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


def built(target: str, *, check: bool = False, num_envs: int = NUM_ENVS, **options: Any) -> Any:
    """Build and reset, as a worker does."""
    workload = build(num_envs, 7, target, CONTEXT._replace(check=check), **options)
    part = accept(workload, target, num_envs, 7)
    assert part.reset is not None
    part.reset()
    return workload


def stepped(workload: Any, steps: int = STEPS, source: ActionSource = ActionSource.RANDOM) -> list[Tally]:
    """Take steps with actions from the ring, and return the tallies."""
    ring = action_ring(workload.spec.action, workload.spec.num_envs, source, 3, workload.make_actions)
    return [workload.step(ring[index % len(ring)]) for index in range(steps)]


@pytest.mark.parametrize("vectorization", ["sync", "async"])
@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_transitions_are_those_that_the_environments_counted(
    vectorization: str, autoreset: str, tmp_path: Path
) -> None:
    workload = built(
        "counted_gym:Counted-v0",
        vectorization_mode=vectorization,
        autoreset_mode=autoreset,
        folder=str(tmp_path),
    )
    tallies = stepped(workload)
    steps, resets, episodes, episode_steps = counted(tmp_path)
    workload.close()
    assert workload.spec.autoreset is Autoreset(autoreset)
    assert sum(tally.transitions for tally in tallies) == steps
    assert sum(tally.episodes or 0 for tally in tallies) == episodes > 50
    assert sum(tally.reward_sum or 0 for tally in tallies) == steps
    assert workload.work()["episode_steps"] == episode_steps
    reset_rows = sum(tally.reset_rows for tally in tallies)
    assert reset_rows == (resets - NUM_ENVS if autoreset == "next_step" else 0)
    assert all(tally.transitions + tally.reset_rows == NUM_ENVS for tally in tallies)


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_a_factory_of_the_users_is_counted_by_its_own_mode(mode: str, tmp_path: Path) -> None:
    workload = built("counted_gym:make", folder=str(tmp_path), mode=mode)
    tallies = stepped(workload)
    assert sum(tally.transitions for tally in tallies) == counted(tmp_path)[0]


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_a_plain_factory_of_the_users_is_counted_as_the_adapter_counts_it(mode: str, tmp_path: Path) -> None:
    """``counted_gym:make``, without ``gymnasium:`` before it."""
    workload = accept(make(NUM_ENVS, 7, str(tmp_path), mode), "counted_gym:make", NUM_ENVS, 7)
    assert workload.reset is not None
    workload.reset()
    (actions,) = action_ring(workload.spec.action, NUM_ENVS, ActionSource.ZERO, 3)
    first = workload.step(actions)
    step = settle_counting(workload, first).step
    before = counted(tmp_path)
    tallies = [step(actions) for _ in range(STEPS)]
    after = counted(tmp_path)
    assert sum(tally.transitions for tally in tallies) == after[0] - before[0]
    assert sum(tally.episodes for tally in tallies) == after[2] - before[2] > 50
    reset_rows = sum(tally.reset_rows for tally in tallies)
    assert reset_rows == (after[1] - before[1] if mode == "NEXT_STEP" else 0)


def test_the_time_limit_of_an_id_ends_episodes_too(tmp_path: Path) -> None:
    workload = built("counted_gym:Counted-v0", folder=str(tmp_path), end_rate=0.0)
    tallies = stepped(workload, 100)
    assert workload.spec.episode_limit_steps == 40
    # Steps 1 to 40, a reset, 42 to 81, a reset, and on.
    assert sum(tally.reset_rows for tally in tallies) == 2 * NUM_ENVS
    assert sum(tally.transitions for tally in tallies) == counted(tmp_path)[0] == 98 * NUM_ENVS


@pytest.mark.parametrize("space", ["box", "discrete", "multi", "binary", "nested", "text"])
@pytest.mark.parametrize("source", list(ActionSource))
def test_actions_of_every_space_are_within_it(space: str, source: ActionSource, tmp_path: Path) -> None:
    workload = built("counted_gym:Counted-v0", folder=str(tmp_path), space=space)
    if space == "text" and source is ActionSource.ZERO:
        with pytest.raises(WorkloadError, match="has no zero"):
            stepped(workload, 3, source)
        return
    assert len(stepped(workload, 20, source)) == 20


def test_equal_seeds_give_equal_observations(tmp_path: Path) -> None:
    looks = []
    for _ in range(2):
        workload = built("CartPole-v1", vectorization_mode="sync")
        stepped(workload, 40)
        looks.append(np.array(workload.observation()))
    np.testing.assert_array_equal(*looks)


@pytest.mark.parametrize("vectorization", ["sync", "async"])
def test_a_check_counts_inside_the_environments(vectorization: str, tmp_path: Path) -> None:
    workload = built(
        "counted_gym:Counted-v0", check=True, vectorization_mode=vectorization, folder=str(tmp_path)
    )
    tallies = stepped(workload)
    assert workload.count_inside() == counted(tmp_path)[0] == sum(tally.transitions for tally in tallies)
    workload.close()


def test_a_vector_of_mujoco_tells_its_substeps() -> None:
    pytest.importorskip("mujoco")
    spec = built("Ant-v5", vectorization_mode="sync").spec
    assert (spec.substeps, spec.step_dt_s, spec.episode_limit_steps) == (5, pytest.approx(0.05), 1000)
    assert spec.details["render_mode"] is None
    assert set(spec.modules_under_test) == {"gymnasium", "mujoco"}


def test_cart_pole_is_made_by_its_own_vector_and_counted_by_next_step() -> None:
    workload = built("CartPole-v1", num_envs=64)
    tallies = stepped(workload, 100)
    assert workload.spec.details["vector"] == "CartPoleVectorEnv"
    assert workload.spec.autoreset is Autoreset.NEXT_STEP
    # Every pole that falls costs its row the following step.
    assert (
        sum(tally.reset_rows for tally in tallies) == sum(tally.episodes or 0 for tally in tallies[:-1]) > 0
    )


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("NoSuchEnv-v0", {}, "cannot make 'NoSuchEnv-v0'"),
        ("no_such_module:Env-v0", {}, "no module 'no_such_module'"),
        ("CartPole-v1", {"autoreset_mode": "same_step"}, "vectorization_mode=sync or async"),
        ("CartPole-v1", {"autoreset_mode": "none"}, "next_step, same_step, disabled"),
        ("CartPole-v1", {"vectorization_mode": "threads"}, "sync, async, vector_entry_point"),
        (
            "CartPole-v1",
            {"vectorization_mode": "sync", "gravity": 3},
            "gravity.*: TypeError",
        ),
        ("CartPole-v1", {"gravity": 3}, "gravity.*: TypeError"),
        ("CartPole-v1", {"render_mode": "human2"}, "no render_mode='human2'; it has: .*rgb_array"),
        (
            "CartPole-v1",
            {"vectorization_mode": "async", "render_mode": "rgb"},
            "no render_mode='rgb'; it has: .*rgb_array",
        ),
        (
            "counted_gym:Counted-v0",
            {"folder": ".", "end_rate": 1, "space": "nosuch"},
            "space='nosuch'.*KeyErr",
        ),
        ("counted_gym:Counted-v0", {"folder": "/nowhere"}, "folder='/nowhere': FileNotFoundError"),
        ("counted_gym:Counted-v7", {"folder": "."}, "has no attribute 'Counted-v7'.* no such id either"),
        ("counted_gym:nosuch", {}, "module 'counted_gym' has no attribute 'nosuch'.* no such id either"),
        ("counted_gym:make_clockwork", {"tag": "sometimes"}, "NextStep, SameStep, Disabled"),
        ("Ant-v2", {}, "Gymnasium .* cannot make 'Ant-v2': "),
        ("counted_gym:make", {"folder": ".", "autoreset_mode": "disabled"}, "makes its vector itself"),
        ("counted_gym:SPACES", {}, "neither a VectorEnv nor a factory"),
        ("counted_gym:counted", {"folder": "."}, "takes no parameter"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(target: str, options: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        build(NUM_ENVS, 0, target, CONTEXT, **options)


@pytest.mark.parametrize("tag", [None, "NextStep", "NEXT_STEP", gymnasium.vector.AutoresetMode.NEXT_STEP])
def test_a_vector_of_the_users_own_is_counted_as_it_counts_itself(tag: Any) -> None:
    """Without a tag it is taken for next-step, as Gymnasium's own wrappers take it."""
    workload = built("counted_gym:make_clockwork", tag=tag)
    part = accept(workload, "clockwork", NUM_ENVS, 7)
    assert part.count_inside is not None
    tallies = stepped(workload, 20)
    assert sum(tally.transitions for tally in tallies) == part.count_inside() == 15 * NUM_ENVS
    assert sum(tally.reset_rows for tally in tallies) == 5 * NUM_ENVS
    assumption = settle_counting(part, tallies[-1]).assumption
    assert (assumption is None) == (tag is not None)
    assert workload.spec.autoreset is (None if tag is None else Autoreset.NEXT_STEP)
    assert "counted_gym" in workload.spec.modules_under_test


def test_a_plain_vector_of_the_users_own_is_counted_alike() -> None:
    """``counted_gym:make_clockwork``, without ``gymnasium:`` before it."""
    env = make_clockwork(NUM_ENVS, 7)
    workload = accept(env, "counted_gym:make_clockwork", NUM_ENVS, 7)
    counted_step = settle_counting(workload, workload.step(None))
    before = env.moved
    tallies = [counted_step.step(None) for _ in range(20)]
    assert sum(tally.transitions for tally in tallies) == env.moved - before == 15 * NUM_ENVS


@pytest.mark.parametrize("target", ["counted_gym:make", "counted_gym:make_seedless"])
def test_a_check_counts_inside_the_environments_that_a_factory_made(target: str, tmp_path: Path) -> None:
    workload = built(target, check=True, folder=str(tmp_path))
    tallies = stepped(workload)
    assert workload.count_inside() == counted(tmp_path)[0] == sum(tally.transitions for tally in tallies)


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_a_check_counts_inside_a_plain_vector_too(mode: str, tmp_path: Path) -> None:
    env = make(NUM_ENVS, 7, str(tmp_path), mode)
    watch_vector(env)
    env.reset(seed=7)
    for _ in range(3):
        env.step(env.action_space.sample())
    assert env.count_inside() == counted(tmp_path)[0]


def test_nothing_is_wrapped_where_nothing_is_checked(tmp_path: Path) -> None:
    assert built("counted_gym:make", folder=str(tmp_path)).count_inside is None


def test_processes_that_a_factory_made_cannot_be_counted_inside_and_that_is_said(tmp_path: Path) -> None:
    workload = built("counted_gym:make_processes", check=True, folder=str(tmp_path))
    part = accept(workload, "processes", NUM_ENVS, 7)
    assert part.count_inside is None
    assert "cannot be counted inside" in str(part.why_not_inside)
    workload.close()


def test_a_factory_without_a_seed_is_called_without_one(tmp_path: Path) -> None:
    workload = built("counted_gym:make_seedless", folder=str(tmp_path))
    assert "takes no seed" in " ".join(accept(workload, "mine", NUM_ENVS, 7).notes)
    assert built("counted_gym:make", folder=str(tmp_path)).check_notes == ()


def test_a_render_mode_that_the_environment_has_is_taken() -> None:
    workload = built("CartPole-v1", vectorization_mode="sync", render_mode="rgb_array")
    assert workload.spec.details["render_mode"] == "rgb_array"
    workload.close()
