"""The G1 walking task is a real task."""

from __future__ import annotations

import numpy as np

from envdyno.suite.tasks.g1_walk_flat import G1_WALK_FLAT


def test_a_zero_action_mostly_stands(make):
    environment = make("g1_walk_flat", num_envs=32)
    environment.episode_steps[:] = 0
    still = np.zeros((32, 29), np.float32)
    fallen = sum(int(environment.step(still).episodes) for _ in range(200))
    assert fallen <= 2


def test_full_range_random_actions_end_episodes(make, random_actions):
    environment = make("g1_walk_flat", num_envs=32)
    actions = random_actions(environment, 16)
    fallen = 0
    for step in range(150):
        environment.step(actions[step % 16])
        fallen += int(environment.terminated.sum())
    assert fallen > 20


def test_pushes_come_and_change_the_velocity_of_the_base(make):
    environment = make("g1_walk_flat", num_envs=32)
    low, high = G1_WALK_FLAT.pushes.interval_steps
    calls = []
    push = environment.engine.push
    environment.engine.push = lambda rows, velocity: (calls.append((rows, velocity)), push(rows, velocity))
    still = np.zeros((32, 29), np.float32)
    for _ in range(high):
        environment.step(still)
    pushed = np.concatenate([rows for rows, _ in calls])
    assert 16 <= len(pushed) <= 32 * (high // low)
    changes = np.concatenate([velocity for _, velocity in calls])
    assert np.all(changes[:, 2] == 0)
    assert 0.2 < np.abs(changes[:, :2]).max() <= G1_WALK_FLAT.pushes.velocity


def test_commands_are_held_and_then_change(make):
    environment = make("g1_walk_flat", num_envs=32)
    still = np.zeros((32, 29), np.float32)
    changed = np.zeros(32, int)
    for _ in range(120):
        before = environment.command.copy()
        environment.step(still)
        kept = np.ones(32, bool)
        kept[environment.done_rows] = False
        changed += np.any(before != environment.command, axis=1) & kept
    assert changed.max() <= 1
    low, high = G1_WALK_FLAT.commands.forward
    assert low <= environment.command[:, 0].min() < 0 < environment.command[:, 0].max() <= high
