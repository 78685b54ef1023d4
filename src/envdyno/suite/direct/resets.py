"""Start states of episodes, shared by the direct tasks."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import FloatArray
from envdyno.suite.robots.robot import Robot
from envdyno.suite.rotations import yaw_quaternion
from envdyno.suite.streams import Streams, uniform
from envdyno.suite.tasks.velocity import ResetRanges


def draw_start_states(
    robot: Robot, ranges: ResetRanges, streams: Streams, count: int
) -> tuple[FloatArray, FloatArray]:
    """Draw ``count`` states about the standing robot, with any heading.

    Returns:
        ``qpos`` (count, 7 + joints) and ``qvel`` (count, 6 + joints) as an engine takes them.
    """
    joints = robot.num_joints
    base, joint = streams["reset_base"], streams["reset_joints"]
    qpos = np.empty((count, 7 + joints), np.float32)
    qpos[:, :2] = uniform(base, -ranges.position, ranges.position, (count, 2))
    qpos[:, 2] = robot.stand_height
    yaw_quaternion(uniform(base, -np.pi, np.pi, count), out=qpos[:, 3:7])
    qvel = np.zeros((count, 6 + joints), np.float32)
    qvel[:, :3] = uniform(base, -ranges.linear_velocity, ranges.linear_velocity, (count, 3))
    qvel[:, 3:6] = uniform(base, -ranges.angular_velocity, ranges.angular_velocity, (count, 3))
    qpos[:, 7:] = np.asarray(robot.default_pose, np.float32)
    qpos[:, 7:] += uniform(joint, -ranges.joint_angle, ranges.joint_angle, (count, joints))
    return qpos, qvel
