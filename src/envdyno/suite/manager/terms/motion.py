"""Terms of motion tracking: the command, what is observed of it, its rewards and terminations."""

from __future__ import annotations

from typing import cast

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.manager.command_manager import CommandTerm
from envdyno.suite.manager.environment import ManagerEnvironment
from envdyno.suite.manager.terms.rewards import exponential, sum_squares
from envdyno.suite.motions.reference import load_motion
from envdyno.suite.rotations import (
    angle_squared,
    conjugate,
    heading,
    multiply,
    projected_gravity,
    rotate_inverse,
    two_axes,
)
from envdyno.suite.tasks.motion_tracking import MotionTrackingTask
from envdyno.suite.tasks.start_sampler import StartSampler
from envdyno.suite.tasks.start_states import draw_states_about


class MotionCommand(CommandTerm):
    """Asks for the next frame of a reference motion, and puts reset robots into it."""

    def __init__(self, environment: ManagerEnvironment, task: MotionTrackingTask) -> None:
        """Load the motion."""
        super().__init__(environment)
        self._task = task
        self.motion = load_motion(task.size.robot, task.size.step_s, environment.engine)
        self.starts = StartSampler(task.start, self.motion.frames)
        self.anchor, self.ends = task.bodies.anchor, list(task.bodies.ends)
        self.frame = np.zeros(environment.num_envs, np.int32)
        bodies = environment.robot.body_pos_w.shape[1]
        self.body_pos_w = np.zeros((environment.num_envs, bodies, 3), np.float32)
        self.body_quat_w = np.zeros((environment.num_envs, bodies, 4), np.float32)
        self.body_lin_vel_w = np.zeros((environment.num_envs, bodies, 3), np.float32)
        self.body_ang_vel_w = np.zeros((environment.num_envs, bodies, 3), np.float32)
        self.body_pos_relative_w = np.zeros((environment.num_envs, bodies, 3), np.float32)
        self.body_quat_relative_w = np.zeros((environment.num_envs, bodies, 4), np.float32)

    @property
    def command(self) -> FloatArray:
        """Joint angles and velocities of the present frame."""
        motion = self.motion
        return np.concatenate([motion.qpos[self.frame, 7:], motion.qvel[self.frame, 6:]], axis=1)

    def sense(self) -> None:
        """Take the frame's bodies, and move them to the robot's horizontal place and heading."""
        robot, motion = self.environment.robot, self.motion
        self.body_pos_w = motion.body_position[self.frame]
        self.body_quat_w = motion.body_quaternion[self.frame]
        self.body_lin_vel_w = motion.body_linear_velocity[self.frame]
        self.body_ang_vel_w = motion.body_angular_velocity[self.frame]
        reference, here = self.body_pos_w[:, self.anchor], robot.body_pos_w[:, self.anchor]
        turn = np.zeros((len(self.frame), 1, 4), np.float32)
        difference = multiply(robot.body_quat_w[:, self.anchor], conjugate(self.body_quat_w[:, self.anchor]))
        turn[:, 0, ::3] = heading(difference)
        place = np.concatenate([here[:, :2], reference[:, 2:]], axis=1)
        offset = rotate_inverse(conjugate(turn), self.body_pos_w - reference[:, None])
        self.body_pos_relative_w = place[:, None] + offset
        self.body_quat_relative_w = multiply(turn, self.body_quat_w)

    def advance(self) -> None:
        """Note failures, and move on by one frame."""
        self.starts.record(self.frame[self.environment.terminated])
        self.frame = (self.frame + 1) % np.int32(self.motion.frames)

    def resample(self, rows: RowArray) -> None:
        """Put the robots of ``rows`` near a frame, and ask for the next one."""
        streams, robot = self.environment.streams, self.environment.robot
        frame = self.starts.draw(streams["start_frame"], len(rows))
        qpos, qvel = draw_states_about(
            self.motion.qpos[frame],
            self.motion.qvel[frame],
            self._task.resets,
            robot.soft_joint_limits,
            streams,
        )
        robot.write_root_state(rows, qpos[:, :3], qpos[:, 3:7], qvel[:, :6])
        robot.write_joint_state(rows, qpos[:, 7:], qvel[:, 6:])
        self.frame[rows] = (frame + 1) % np.int32(self.motion.frames)


def _motion(environment: ManagerEnvironment) -> MotionCommand:
    return cast("MotionCommand", environment.command_manager.terms["motion"])


def motion_anchor_pos_b(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Place of the reference's anchor in the robot's anchor frame, m."""
    motion, robot = _motion(environment), environment.robot
    offset = (
        motion.motion.body_position[motion.frame[rows], motion.anchor] - robot.body_pos_w[rows, motion.anchor]
    )
    return rotate_inverse(robot.body_quat_w[rows, motion.anchor], offset)


def motion_anchor_ori_b(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Orientation of the reference's anchor in the robot's anchor frame, two matrix columns."""
    motion, robot = _motion(environment), environment.robot
    target = motion.motion.body_quaternion[motion.frame[rows], motion.anchor]
    return two_axes(multiply(conjugate(robot.body_quat_w[rows, motion.anchor]), target))


def robot_body_pos_b(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Places of the tracked bodies in the robot's anchor frame, m."""
    anchor, robot = _motion(environment).anchor, environment.robot
    position, quaternion = robot.body_pos_w[rows], robot.body_quat_w[rows]
    local = rotate_inverse(quaternion[:, anchor, None], position - position[:, anchor, None])
    return local.reshape(len(local), -1)


def robot_body_ori_b(environment: ManagerEnvironment, rows: RowArray | slice) -> FloatArray:
    """Orientations of the tracked bodies in the robot's anchor frame, two matrix columns each."""
    anchor, quaternion = _motion(environment).anchor, environment.robot.body_quat_w[rows]
    local = two_axes(multiply(conjugate(quaternion[:, anchor])[:, None], quaternion))
    return local.reshape(len(local), -1)


def _mean(values: FloatArray) -> FloatArray:
    mean: FloatArray = np.mean(values, axis=1)
    return mean


def anchor_position_error_exp(environment: ManagerEnvironment, deviation: float) -> FloatArray:
    """Exponential of the anchor's distance."""
    motion, robot = _motion(environment), environment.robot
    error = motion.body_pos_w[:, motion.anchor] - robot.body_pos_w[:, motion.anchor]
    return exponential(sum_squares(error), deviation**2)


def anchor_orientation_error_exp(environment: ManagerEnvironment, deviation: float) -> FloatArray:
    """Exponential of the anchor's angle."""
    motion, robot = _motion(environment), environment.robot
    error = angle_squared(motion.body_quat_w[:, motion.anchor], robot.body_quat_w[:, motion.anchor])
    return exponential(error, deviation**2)


def body_position_error_exp(environment: ManagerEnvironment, deviation: float) -> FloatArray:
    """Exponential of the bodies' mean squared distance from the moved reference."""
    error = _motion(environment).body_pos_relative_w - environment.robot.body_pos_w
    return exponential(_mean(sum_squares(error)), deviation**2)


def body_orientation_error_exp(environment: ManagerEnvironment, deviation: float) -> FloatArray:
    """Exponential of the bodies' mean squared angle to the moved reference."""
    error = angle_squared(_motion(environment).body_quat_relative_w, environment.robot.body_quat_w)
    return exponential(_mean(error), deviation**2)


def body_linear_velocity_error_exp(environment: ManagerEnvironment, deviation: float) -> FloatArray:
    """Exponential of the bodies' mean squared difference of linear velocity."""
    error = _motion(environment).body_lin_vel_w - environment.robot.body_lin_vel_w
    return exponential(_mean(sum_squares(error)), deviation**2)


def body_angular_velocity_error_exp(environment: ManagerEnvironment, deviation: float) -> FloatArray:
    """Exponential of the bodies' mean squared difference of angular velocity."""
    error = _motion(environment).body_ang_vel_w - environment.robot.body_ang_vel_w
    return exponential(_mean(sum_squares(error)), deviation**2)


def bad_anchor_height(environment: ManagerEnvironment, threshold: float) -> BoolArray:
    """The anchor is too high or too low."""
    motion, robot = _motion(environment), environment.robot
    error = motion.body_pos_w[:, motion.anchor, 2] - robot.body_pos_w[:, motion.anchor, 2]
    flags: BoolArray = np.abs(error) > threshold
    return flags


def bad_anchor_tilt(environment: ManagerEnvironment, threshold: float) -> BoolArray:
    """The anchor is tilted otherwise than the reference."""
    motion, robot = _motion(environment), environment.robot
    reference = projected_gravity(motion.body_quat_w[:, motion.anchor])
    here = projected_gravity(robot.body_quat_w[:, motion.anchor])
    flags: BoolArray = np.abs(reference[:, 2] - here[:, 2]) > threshold
    return flags


def bad_end_height(environment: ManagerEnvironment, threshold: float) -> BoolArray:
    """A hand or a foot is too high or too low."""
    motion, robot = _motion(environment), environment.robot
    error = motion.body_pos_relative_w[:, motion.ends, 2] - robot.body_pos_w[:, motion.ends, 2]
    flags: BoolArray = np.any(np.abs(error) > threshold, axis=1)
    return flags
