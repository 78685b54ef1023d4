"""Reward terms of locomotion: ``(environment, ...)`` to (num_envs,)."""

from __future__ import annotations

from typing import cast

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray
from envdyno.suite.manager.environment import ManagerEnvironment
from envdyno.suite.manager.terms.commands import GaitClock


def sum_squares(values: FloatArray) -> FloatArray:
    """Sum of squares over the last axis."""
    total: FloatArray = np.sum(np.square(values), axis=-1)
    return total


def exponential(squared_error: FloatArray, variance: float) -> FloatArray:
    """One without error, falling to 1/e at ``variance``."""
    value: FloatArray = np.exp(squared_error * np.float32(-1.0 / variance))
    return value


def _square(values: FloatArray) -> FloatArray:
    squared: FloatArray = np.square(values)
    return squared


def track_lin_vel(environment: ManagerEnvironment, command: str, variance: float) -> FloatArray:
    """Exponential of the horizontal velocity's error."""
    error = environment.command_manager.command(command)[:, :2] - environment.robot.root_lin_vel_b[:, :2]
    return exponential(sum_squares(error), variance)


def track_ang_vel(environment: ManagerEnvironment, command: str, variance: float) -> FloatArray:
    """Exponential of the turning rate's error."""
    error = environment.command_manager.command(command)[:, 2] - environment.robot.root_ang_vel_b[:, 2]
    return exponential(_square(error), variance)


def lin_vel_z_l2(environment: ManagerEnvironment) -> FloatArray:
    """Vertical velocity, squared."""
    return _square(environment.robot.root_lin_vel_b[:, 2])


def ang_vel_xy_l2(environment: ManagerEnvironment) -> FloatArray:
    """Roll and pitch rates, squared."""
    return sum_squares(environment.robot.root_ang_vel_b[:, :2])


def flat_orientation_l2(environment: ManagerEnvironment) -> FloatArray:
    """Horizontal part of gravity in base axes, squared."""
    return sum_squares(environment.robot.projected_gravity_b[:, :2])


def base_height_l2(environment: ManagerEnvironment, target: float) -> FloatArray:
    """Distance of the base from its target height, squared."""
    return _square(environment.robot.root_pos_w[:, 2] - np.float32(target))


def joint_acc_l2(environment: ManagerEnvironment) -> FloatArray:
    """Joint accelerations, squared."""
    return sum_squares(environment.robot.joint_acc)


def action_rate_l2(environment: ManagerEnvironment) -> FloatArray:
    """Change of the action, squared."""
    manager = environment.action_manager
    return sum_squares(manager.action - manager.previous_action)


def joint_pos_limits(environment: ManagerEnvironment) -> FloatArray:
    """Angle beyond the soft limits."""
    angles, (low, high) = environment.robot.joint_pos, environment.robot.soft_joint_limits
    below = np.clip(low - angles, 0.0, None)
    above = np.clip(angles - high, 0.0, None)
    beyond: FloatArray = np.sum(below + above, axis=1)
    return beyond


def joint_deviation_l2(environment: ManagerEnvironment, joints: tuple[int, ...]) -> FloatArray:
    """Distance of some joints from the default pose, squared."""
    chosen = list(joints)
    robot = environment.robot
    return sum_squares(robot.joint_pos[:, chosen] - robot.default_joint_pos[chosen])


def feet_gait(environment: ManagerEnvironment, clock: str, command: str, least_command: float) -> FloatArray:
    """Share of feet that are on the ground exactly when the gait wants them there."""
    gait = cast("GaitClock", environment.command_manager.terms[clock])
    matched = gait.stance() == environment.feet.in_contact
    matched &= _moving(environment, command, least_command)[:, None]
    share: FloatArray = np.mean(matched, axis=1, dtype=np.float32)
    return share


def feet_air_time(
    environment: ManagerEnvironment, command: str, least_command: float, threshold_s: float
) -> FloatArray:
    """Time in the air beyond the threshold, when a foot lands."""
    feet = environment.feet
    landed = feet.first_contact & _moving(environment, command, least_command)[:, None]
    total: FloatArray = np.sum((feet.last_air_time - np.float32(threshold_s)) * landed, axis=1)
    return total


def feet_slide(environment: ManagerEnvironment) -> FloatArray:
    """Horizontal speed of feet on the ground, squared."""
    speed = sum_squares(environment.robot.foot_vel_w[:, :, :2])
    total: FloatArray = np.sum(speed * environment.feet.in_contact, axis=1)
    return total


def is_terminated(environment: ManagerEnvironment) -> FloatArray:
    """One where the episode ended in a terminal state."""
    return environment.terminated.astype(np.float32)


def _moving(environment: ManagerEnvironment, command: str, least: float) -> BoolArray:
    moving: BoolArray = sum_squares(environment.command_manager.command(command)) > np.float32(least**2)
    return moving
