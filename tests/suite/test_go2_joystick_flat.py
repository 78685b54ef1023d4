"""The Go2 task is a real task: it stands, falls, and rewards walking."""

from __future__ import annotations

import numpy as np

TROT_PHASES = np.array([0.0, 0.5, 0.5, 0.0], np.float32)


def trot(environment) -> np.ndarray:
    """Swing diagonal legs in turn, as far as the command asks, in the rhythm of the gait clock."""
    phase = (environment.phase[:, None] + TROT_PHASES) % 1.0
    swing = np.where(phase >= 0.5, np.sin(2 * np.pi * (phase - 0.5)), 0.0)
    stride = -0.3 * np.cos(2 * np.pi * phase) * environment.command[:, :1]
    moving = np.linalg.norm(environment.command, axis=1, keepdims=True) > 0.1
    actions = np.zeros((environment.num_envs, 12), np.float32)
    actions[:, 1::3] = (0.3 * swing + stride) / 0.8 * moving
    actions[:, 2::3] = -0.6 * swing / 0.8 * moving
    return actions


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


def test_a_trot_earns_more_than_noise_and_more_than_standing_still(make, random_actions):
    def mean_reward(policy) -> float:
        environment = make("go2_joystick_flat", num_envs=48)
        return sum(environment.step(policy(environment)).reward_sum for _ in range(150)) / (150 * 48)

    ring = iter(random_actions(make("go2_joystick_flat", num_envs=48), 300))
    walking = mean_reward(trot)
    assert walking > mean_reward(lambda environment: 0.2 * next(ring))
    assert walking > mean_reward(lambda environment: np.zeros((48, 12), np.float32))
    assert walking > mean_reward(lambda environment: next(ring))


def test_a_trot_goes_where_the_command_points(make):
    environment = make("go2_joystick_flat", num_envs=64)
    travelled = np.zeros(64)
    for _ in range(150):
        environment.step(trot(environment))
        forward = environment.critic_observation[:, 49] / 2.0
        travelled += forward * np.sign(environment.command[:, 0]) * 0.02
    assert travelled.mean() > 0.2
