"""Both runtimes of a task compute the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

CASES = [
    ("go2_joystick_flat", "mujoco", 1000),
    ("g1_walk_flat", "mujoco", 1000),
    ("g1_walk_flat", "motrix", 250),
    ("g1_motion_tracking", "mujoco", 1000),
    ("g1_motion_tracking", "motrix", 250),
]


@pytest.mark.parametrize(("task", "engine", "steps"), CASES)
def test_direct_and_manager_agree_step_by_step_and_reset_by_reset(make, task, engine, steps):
    rows_each = 6 if engine == "mujoco" else 4
    direct, manager = (
        make(task, engine, num_envs=rows_each, seed=3, runtime=runtime) for runtime in ("direct", "manager")
    )
    generator = np.random.default_rng(0)
    resets = 0
    for step in range(steps):
        actions = generator.uniform(-1, 1, (rows_each, direct.num_joints)).astype(np.float32)
        actions *= 0.5 if step % 200 < 100 else 1.0
        direct.step(actions)
        manager.step(actions)
        rows = direct.done_rows
        resets += rows.size
        np.testing.assert_array_equal(rows, manager.done_rows)
        np.testing.assert_array_equal(direct.terminated, manager.terminated)
        np.testing.assert_array_equal(direct.truncated, manager.truncated)
        for name in ("policy_observation", "critic_observation", "reward"):
            np.testing.assert_allclose(getattr(direct, name), getattr(manager, name), rtol=0, atol=1e-6)
        for name in ("terminal_policy_observation", "terminal_critic_observation"):
            one, other = getattr(direct, name)[rows], getattr(manager, name)[rows]
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    assert resets >= rows_each


def test_applying_actions_every_substep_costs_a_dispatch_for_each(make, random_actions):
    environment = make("g1_walk_flat", runtime="manager", action_application="substep")
    for actions in random_actions(environment, 3):
        environment.step(actions)
    work = environment.work()
    assert work["dispatches"] == 3 * 3
    assert work["substeps"] == 3 * 3 * 16


def test_applying_actions_every_substep_moves_the_robot_alike(make):
    once, often = (
        make("go2_joystick_flat", runtime="manager", action_application=application)
        for application in ("step", "substep")
    )
    still = np.zeros((16, 12), np.float32)
    for _ in range(20):
        once.step(still)
        often.step(still)
    np.testing.assert_allclose(once.engine.qpos[:, 7:], often.engine.qpos[:, 7:], atol=1e-2)


def test_the_manager_logs_each_terms_mean_over_the_episodes_that_ended(make, random_actions):
    environment = make("g1_motion_tracking", runtime="manager", num_envs=64)
    actions = random_actions(environment, 8)
    for step in range(60):
        environment.step(actions[step % 8])
    assert environment.log.keys() >= {"episode_reward/body_position", "episode_termination/end_height"}


def test_the_direct_runtime_refuses_substep_application(make):
    with pytest.raises(ValueError, match="runtime=manager"):
        make("g1_walk_flat", action_application="substep")


def test_an_unknown_runtime_is_refused_with_the_known_ones(make):
    with pytest.raises(ValueError, match="it has: direct, manager"):
        make("g1_walk_flat", runtime="fused")
