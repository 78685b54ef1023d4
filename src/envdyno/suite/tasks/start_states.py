"""Start states of episodes."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import FloatArray
from envdyno.suite.robots.robot import Robot
from envdyno.suite.rotations import from_euler, multiply, yaw_quaternion
from envdyno.suite.streams import Streams, uniform
from envdyno.suite.tasks.motion_tracking import TrackingResets
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


def draw_states_about(
    reference_qpos: FloatArray,
    reference_qvel: FloatArray,
    ranges: TrackingResets,
    limits: tuple[FloatArray, FloatArray],
    streams: Streams,
) -> tuple[FloatArray, FloatArray]:
    """Draw one state about each of the given ones.

    Args:
        reference_qpos: (count, 7 + joints).
        reference_qvel: (count, 6 + joints).
        ranges: half-widths of the differences.
        limits: lowest and highest angle of every joint.
        streams: where the numbers come from.

    Returns:
        ``qpos`` and ``qvel`` of the same shapes, which the references are left out of.
    """
    count, base, joint = len(reference_qpos), streams["reset_base"], streams["reset_joints"]
    qpos, qvel = reference_qpos.copy(), reference_qvel.copy()
    drawn = base.random((count, 12), dtype=np.float32)
    drawn *= 2.0
    drawn -= 1.0
    qpos[:, :3] += drawn[:, 0:3] * np.asarray(ranges.position, np.float32)
    turn = drawn[:, 3:6] * np.asarray(ranges.rotation, np.float32)
    qpos[:, 3:7] = multiply(from_euler(turn[:, 0], turn[:, 1], turn[:, 2]), reference_qpos[:, 3:7])
    qvel[:, :3] += drawn[:, 6:9] * np.asarray(ranges.linear_velocity, np.float32)
    qvel[:, 3:6] += drawn[:, 9:12] * np.asarray(ranges.angular_velocity, np.float32)
    joints = qpos[:, 7:]
    joints += uniform(joint, -ranges.joint_angle, ranges.joint_angle, joints.shape)
    np.clip(joints, *limits, out=joints)
    return qpos, qvel
