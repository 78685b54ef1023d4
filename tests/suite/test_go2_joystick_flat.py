"""The Go2 task is a real task: it stands, falls, and rewards walking."""

from __future__ import annotations

import numpy as np


def test_sizes_are_those_of_the_public_task_of_the_same_name(make):
    spec = make("go2_joystick_flat").spec
    assert spec.observation["policy"].shape == (49,)
    assert spec.observation["critic"].shape == (52,)
    assert spec.action.shape == (12,)
    assert (spec.substeps, spec.episode_limit_steps) == (2, 1000)


def test_a_zero_action_stands_without_a_fall(make):
    environment = make("go2_joystick_flat")
    still = np.zeros((16, 12), np.float32)
    fallen = 0
    for _ in range(250):
        environment.step(still)
        fallen += int(environment.terminated.sum())
    assert fallen == 0
    assert environment.engine.qpos[:, 2].min() > 0.25


def test_full_range_random_actions_end_episodes(make, random_actions):
    environment = make("go2_joystick_flat", num_envs=64)
    actions = random_actions(environment, 16)
    fallen = 0
    for step in range(200):
        environment.step(actions[step % 16])
        fallen += int(environment.terminated.sum())
    assert fallen > 10
