"""Event terms: ``(environment, rows, ...)`` changes those rows."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import RowArray
from envdyno.suite.manager.environment import ManagerEnvironment
from envdyno.suite.rotations import yaw_quaternion
from envdyno.suite.streams import uniform
from envdyno.suite.tasks.velocity import Pushes, ResetRanges


def reset_root_state_uniform(
    environment: ManagerEnvironment, rows: RowArray, ranges: ResetRanges, height: float
) -> None:
    """Stand the base up near the origin, with any heading and a small velocity."""
    stream, count = environment.streams["reset_base"], len(rows)
    place = uniform(stream, -ranges.position, ranges.position, (count, 2))
    position = np.concatenate([place, np.full((count, 1), height, np.float32)], axis=1)
    quaternion = yaw_quaternion(uniform(stream, -np.pi, np.pi, count))
    linear = uniform(stream, -ranges.linear_velocity, ranges.linear_velocity, (count, 3))
    angular = uniform(stream, -ranges.angular_velocity, ranges.angular_velocity, (count, 3))
    environment.robot.write_root_state(rows, position, quaternion, np.concatenate([linear, angular], axis=1))


def reset_joints_by_offset(environment: ManagerEnvironment, rows: RowArray, half_width: float) -> None:
    """Put the joints near the default pose, at rest."""
    default = environment.robot.default_joint_pos
    shape = (len(rows), len(default))
    offset = uniform(environment.streams["reset_joints"], -half_width, half_width, shape)
    environment.robot.write_joint_state(rows, default + offset, np.zeros(shape, np.float32))


def push_by_setting_velocity(environment: ManagerEnvironment, rows: RowArray, pushes: Pushes) -> None:
    """Change the base's horizontal velocity at once."""
    stream, count = environment.streams["push"], len(rows)
    change = uniform(stream, -pushes.velocity, pushes.velocity, (count, 2))
    environment.engine.push(rows, np.concatenate([change, np.zeros((count, 1), np.float32)], axis=1))
