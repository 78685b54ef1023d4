"""What every task of the suite promises to whoever steps it."""

from __future__ import annotations

import numpy as np
import pytest

from envdyno.agent.workloads.contract import Autoreset

TASKS = pytest.mark.parametrize("task", ["go2_joystick_flat", "g1_walk_flat", "g1_motion_tracking"])
CASES = pytest.mark.parametrize(
    ("task", "engine"),
    [
        ("go2_joystick_flat", "mujoco"),
        ("g1_walk_flat", "mujoco"),
        ("g1_walk_flat", "motrix"),
        ("g1_motion_tracking", "mujoco"),
        ("g1_motion_tracking", "motrix"),
    ],
)
SIZES = {
    "go2_joystick_flat": (49, 52, 12, 2),
    "g1_walk_flat": (98, 101, 29, 3),
    "g1_motion_tracking": (160, 289, 29, 3),
}

LAST_ACTION = {
    "go2_joystick_flat": (33, 45),
    "g1_walk_flat": (67, 96),
    "g1_motion_tracking": (131, 160),
}
"""Columns of the policy's observation."""


@TASKS
@pytest.mark.parametrize("runtime", ["direct", "manager"])
def test_sizes_are_those_of_the_public_task_of_the_same_name(make, task, runtime):
    environment = make(task, runtime=runtime)
    policy, critic, action, substeps = SIZES[task]
    spec = environment.spec
    assert spec.observation["policy"].shape == (policy,)
    assert spec.observation["critic"].shape == (critic,)
    assert spec.action.shape == (action,)
    assert (spec.substeps, spec.episode_limit_steps) == (substeps, 1000)
    assert spec.autoreset is Autoreset.SAME_STEP
    assert {name: array.shape for name, array in environment.observation().items()} == {
        "policy": (16, policy),
        "critic": (16, critic),
    }


@CASES
def test_equal_seeds_give_equal_bits_for_any_number_of_threads(make, random_actions, task, engine):
    # MotrixSim's pool is made once a process, so there the number of threads is the same.
    first, second = (make(task, engine, threads=threads) for threads in (1, 2))
    for actions in random_actions(first, 60):
        tallies = first.step(actions), second.step(actions)
        assert tallies[0] == tallies[1]
        assert first.policy_observation.tobytes() == second.policy_observation.tobytes()


@TASKS
def test_another_seed_gives_other_episodes(make, task):
    one, other = (make(task, seed=seed) for seed in (1, 2))
    assert not np.array_equal(one.critic_observation, other.critic_observation)


@TASKS
def test_episodes_are_staggered_so_that_some_end_at_nearly_every_step(make, task):
    environment = make(task, num_envs=64)
    assert len(np.unique(environment.episode_steps)) > 50
    still = np.zeros((64, environment.num_joints), np.float32)
    with_reset = [environment.step(still).episodes for _ in range(60)]
    assert 0 < sum(with_reset) < 64 * 10


@TASKS
def test_the_time_limit_truncates_and_never_terminates(make, task):
    environment = make(task)
    environment.episode_steps[3] = 999
    environment.step(np.zeros((16, environment.num_joints), np.float32))
    if not environment.terminated[3]:
        assert environment.truncated[3]
    assert not np.any(environment.truncated & environment.terminated)
    assert environment.episode_steps[3] == 0


@TASKS
@pytest.mark.parametrize("runtime", ["direct", "manager"])
def test_a_non_finite_action_is_counted_and_never_seen_again(make, task, runtime):
    environment = make(task, runtime=runtime)
    actions = np.zeros((16, environment.num_joints), np.float32)
    actions[5, 2] = np.nan
    tally = environment.step(actions)
    assert tally.nonfinite_rows == 1
    assert environment.terminated[5]
    assert 5 in environment.done_rows
    for array in (
        environment.policy_observation,
        environment.critic_observation,
        environment.terminal_policy_observation,
        environment.terminal_critic_observation,
        environment.reward,
    ):
        assert np.isfinite(array).all()
    assert environment.step(np.zeros_like(actions)).nonfinite_rows == 0


@TASKS
def test_what_was_observed_before_a_step_is_intact_after_it(make, random_actions, task):
    environment = make(task)
    for actions in random_actions(environment, 5):
        before = environment.policy_observation
        copy = before.copy()
        environment.step(actions)
        np.testing.assert_array_equal(before, copy)
        assert environment.policy_observation is not before


@TASKS
def test_the_terminal_observation_belongs_to_the_episode_that_ended(make, task):
    environment = make(task)
    environment.episode_steps[:] = 0
    environment.episode_steps[7] = 999
    actions = np.full((16, environment.num_joints), 0.25, np.float32)
    environment.step(actions)
    assert 7 in environment.done_rows
    last_action = slice(*LAST_ACTION[task])
    np.testing.assert_allclose(environment.terminal_policy_observation[7, last_action], 0.25)
    np.testing.assert_allclose(environment.policy_observation[7, last_action], 0.0)


@TASKS
def test_the_policy_sees_the_critics_observation_with_noise(make, task):
    environment = make(task)
    noisy, clean = environment.policy_observation, environment.critic_observation
    first, last = LAST_ACTION[task]
    if task == "g1_motion_tracking":
        commanded = 2 * 29 + 9
        noisy, clean = noisy[:, commanded:], clean[:, commanded + 9 * 14 : -3]
        first, last = first - commanded, last - commanded
    difference = noisy - clean[:, : noisy.shape[1]]
    assert 0.01 < np.abs(difference).max() < 0.6
    assert not difference[:, first:last].any()  # what the policy did, it knows exactly


@TASKS
def test_work_tells_substeps_dispatches_and_steps_of_ended_episodes(make, random_actions, task):
    environment = make(task)
    lengths = []
    for actions in random_actions(environment, 120):
        before = environment.episode_steps.copy()
        environment.step(actions)
        lengths.extend((before[environment.done_rows] + 1).tolist())
    work = environment.work()
    assert work["episode_steps"] == sum(lengths)
    assert work["dispatches"] == 120
    assert work["substeps"] == 120 * 16 * environment.size.substeps


@TASKS
def test_actions_beyond_the_bounds_are_clipped(make, task):
    one, other = make(task), make(task)
    one.step(np.full((16, one.num_joints), 5.0, np.float32))
    other.step(np.full((16, one.num_joints), 1.0, np.float32))
    np.testing.assert_array_equal(one.policy_observation, other.policy_observation)


@TASKS
def test_the_spec_says_what_else_fixes_the_work(make, task):
    details = make(task, runtime="manager").spec.details
    assert details["solver"] == "newton"
    assert details["precision"] == "float64"
    assert (details["runtime"], details["action_application"]) == ("manager", "step")


def test_an_unknown_task_is_refused_with_the_known_ones(make):
    with pytest.raises(ValueError, match="g1_walk_flat"):
        make("g1_run_flat")
