"""Start states of episodes, shared by the direct tasks."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import FloatArray
from envdyno.suite.robots.robot import Robot
from envdyno.suite.rotations import yaw_quaternion
from envdyno.suite.streams import Streams, uniform


def draw_start_states(
    robot: Robot,
    streams: Streams,
    count: int,
    *,
    position: float,
    linear_velocity: float,
    angular_velocity: float,
    joint_angle: float,
) -> tuple[FloatArray, FloatArray]:
    """Draw ``count`` states about the standing robot: any heading, the other ranges symmetric.

    Returns:
        ``qpos`` (count, 7 + joints) and ``qvel`` (count, 6 + joints) as an engine takes them.
    """
    joints = robot.num_joints
    base, joint = streams["reset_base"], streams["reset_joints"]
    qpos = np.empty((count, 7 + joints), np.float32)
    qpos[:, :2] = uniform(base, -position, position, (count, 2))
    qpos[:, 2] = robot.stand_height
    yaw_quaternion(uniform(base, -np.pi, np.pi, count), out=qpos[:, 3:7])
    qvel = np.zeros((count, 6 + joints), np.float32)
    qvel[:, :3] = uniform(base, -linear_velocity, linear_velocity, (count, 3))
    qvel[:, 3:6] = uniform(base, -angular_velocity, angular_velocity, (count, 3))
    qpos[:, 7:] = np.asarray(robot.default_pose, np.float32)
    qpos[:, 7:] += uniform(joint, -joint_angle, joint_angle, (count, joints))
    return qpos, qvel
