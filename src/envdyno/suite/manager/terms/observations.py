"""Observation terms: ``(environment, rows, ...)`` to (rows, features)."""

from __future__ import annotations

from envdyno.suite.arrays import FloatArray, RowArray
from envdyno.suite.manager.environment import ManagerEnvironment


def base_lin_vel(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Linear velocity in base axes, m/s."""
    return environment.robot.root_lin_vel_b[rows]


def base_ang_vel(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Angular velocity in base axes, rad/s."""
    return environment.robot.root_ang_vel_b[rows]


def projected_gravity(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Direction of gravity in base axes."""
    return environment.robot.projected_gravity_b[rows]


def joint_pos_rel(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Joint angles relative to the default pose, rad."""
    relative: FloatArray = environment.robot.joint_pos[rows] - environment.robot.default_joint_pos
    return relative


def joint_vel(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Joint velocities, rad/s."""
    return environment.robot.joint_vel[rows]


def last_action(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """The action of the latest step."""
    return environment.action_manager.action[rows]


def generated_command(environment: ManagerEnvironment, rows: RowArray | slice, command: str) -> FloatArray:
    """The present command of a term."""
    return environment.command_manager.command(command)[rows]
