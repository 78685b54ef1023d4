"""The motion tracking tasks in the direct runtime: one fused class."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.direct.environment import DirectEnvironment
from envdyno.suite.engines.contract import Engine
from envdyno.suite.motions.reference import load_motion
from envdyno.suite.rotations import (
    angle_squared,
    conjugate,
    heading,
    multiply,
    rotate_inverse,
    two_axes,
)
from envdyno.suite.streams import Streams
from envdyno.suite.tasks.motion_tracking import MotionTrackingTask
from envdyno.suite.tasks.start_sampler import StartSampler
from envdyno.suite.tasks.start_states import draw_states_about


class DirectMotionTrackingEnvironment(DirectEnvironment):
    """Computes a :class:`~envdyno.suite.tasks.motion_tracking.MotionTrackingTask`."""

    def __init__(self, task: MotionTrackingTask, engine: Engine, num_envs: int, streams: Streams) -> None:
        """Load the motion, allocate the buffers and start every episode."""
        super().__init__(
            task.size,
            engine,
            num_envs,
            streams,
            action_scale=task.action_scale,
            soft_limit=task.soft_limit,
            noise_width=_noise_widths(task),
        )
        self.task = task
        self.motion = load_motion(task.size.robot, task.size.step_s, engine)
        self.starts = StartSampler(task.start, self.motion.frames)
        bodies = len(task.size.readout.bodies)
        self._ends = np.asarray(task.bodies.ends)

        self.frame = np.zeros(num_envs, np.int32)
        self._reference_position = np.zeros((num_envs, bodies, 3), np.float32)
        self._reference_quaternion = np.zeros((num_envs, bodies, 4), np.float32)
        self._reference_velocity = np.zeros((num_envs, bodies, 3), np.float32)
        self._moved_position = np.zeros((num_envs, bodies, 3), np.float32)
        self._moved_quaternion = np.zeros((num_envs, bodies, 4), np.float32)
        self._anchor_drop = np.zeros(num_envs, np.float32)
        self._body_scratch = np.zeros((num_envs, bodies, 3), np.float32)
        self.start()

    def refresh(self) -> None:
        """Gravity and base velocity in base axes, and the reference moved to the robot."""
        super().refresh()
        np.take(self.motion.body_position, self.frame, axis=0, out=self._reference_position, mode="clip")
        np.take(self.motion.body_quaternion, self.frame, axis=0, out=self._reference_quaternion, mode="clip")
        self._move_reference()

    def _move_reference(self) -> None:
        """Give the reference the robot's horizontal place and heading, at the anchor."""
        anchor = self.task.bodies.anchor
        robot, reference = self.engine.body_position[:, anchor], self._reference_position[:, anchor]
        turn = heading(
            multiply(self.engine.body_quaternion[:, anchor], conjugate(self._reference_quaternion[:, anchor]))
        )
        c, s = turn[:, 0, None], turn[:, 1, None]
        w, x, y, z = (self._reference_quaternion[..., i] for i in range(4))
        moved = self._moved_quaternion
        np.subtract(c * w, s * z, out=moved[..., 0])
        np.subtract(c * x, s * y, out=moved[..., 1])
        np.add(c * y, s * x, out=moved[..., 2])
        np.add(c * z, s * w, out=moved[..., 3])
        cosine, sine = c * c - s * s, 2.0 * c * s
        dx = self._reference_position[..., 0] - reference[:, 0, None]
        dy = self._reference_position[..., 1] - reference[:, 1, None]
        np.add(cosine * dx - sine * dy, robot[:, 0, None], out=self._moved_position[..., 0])
        np.add(sine * dx + cosine * dy, robot[:, 1, None], out=self._moved_position[..., 1])
        self._moved_position[..., 2] = self._reference_position[..., 2]
        np.subtract(reference[:, 2], robot[:, 2], out=self._anchor_drop)

    def terminate(self, terminated: BoolArray, truncated: BoolArray) -> None:
        """Anchor too low or too high, too tilted, or a hand or foot at the wrong height."""
        limits, anchor = self.task.terminations, self.task.bodies.anchor
        np.greater(np.abs(self._anchor_drop), limits.anchor_height, out=terminated)
        tilt = _down(self._reference_quaternion[:, anchor]) - _down(self.engine.body_quaternion[:, anchor])
        terminated |= np.abs(tilt) > limits.anchor_tilt
        ends = self._moved_position[:, self._ends, 2] - self.engine.body_position[:, self._ends, 2]
        terminated |= (np.abs(ends) > limits.end_height).any(axis=1)
        self.out_of_time(truncated)

    def evaluate(self, out: FloatArray) -> None:
        """Sum of the weighted terms, for one step."""
        out[:] = 0.0
        self._reward_anchor(out)
        self._reward_bodies(out)
        self._reward_joints(out)
        out *= np.float32(self.size.step_s)

    def _track(self, out: FloatArray, weight: float, deviation: float, squared_error: FloatArray) -> None:
        np.multiply(squared_error, np.float32(-1.0 / deviation**2), out=self._term)
        np.exp(self._term, out=self._term)
        self._term *= np.float32(weight)
        out += self._term

    def _reward_anchor(self, out: FloatArray) -> None:
        weights, deviations, anchor = self.task.weights, self.task.deviations, self.task.bodies.anchor
        error = self._reference_position[:, anchor] - self.engine.body_position[:, anchor]
        squared = np.einsum("ij,ij->i", error, error)
        self._track(out, weights.anchor_position, deviations.anchor_position, squared)
        squared = angle_squared(self._reference_quaternion[:, anchor], self.engine.body_quaternion[:, anchor])
        self._track(out, weights.anchor_orientation, deviations.anchor_orientation, squared)

    def _reward_bodies(self, out: FloatArray) -> None:
        weights, deviations, engine = self.task.weights, self.task.deviations, self.engine
        share = np.float32(1.0 / self._body_scratch.shape[1])
        scratch, velocity = self._body_scratch, self._reference_velocity
        np.subtract(self._moved_position, engine.body_position, out=scratch)
        squared = np.einsum("nbi,nbi->n", scratch, scratch) * share
        self._track(out, weights.body_position, deviations.body_position, squared)
        squared = np.einsum("nb->n", angle_squared(self._moved_quaternion, engine.body_quaternion)) * share
        self._track(out, weights.body_orientation, deviations.body_orientation, squared)
        np.take(self.motion.body_linear_velocity, self.frame, axis=0, out=velocity, mode="clip")
        np.subtract(velocity, engine.body_linear_velocity, out=scratch)
        squared = np.einsum("nbi,nbi->n", scratch, scratch) * share
        self._track(out, weights.body_linear_velocity, deviations.body_linear_velocity, squared)
        np.take(self.motion.body_angular_velocity, self.frame, axis=0, out=velocity, mode="clip")
        np.subtract(velocity, engine.body_angular_velocity, out=scratch)
        squared = np.einsum("nbi,nbi->n", scratch, scratch) * share
        self._track(out, weights.body_angular_velocity, deviations.body_angular_velocity, squared)

    def _reward_joints(self, out: FloatArray) -> None:
        weights = self.task.weights
        self._add(out, weights.action_rate, self._action_rate())
        self._add(out, weights.joint_acceleration, self._joint_acceleration())
        self._add(out, weights.joint_limits, self._beyond_limits())

    def advance_commands(self) -> None:
        """Note failures, and move the reference on by one frame."""
        self.starts.record(self.frame[self.terminated])
        self.frame += 1
        self.frame %= self.motion.frames

    def _add_noise(self, clean: FloatArray, noise: FloatArray, out: FloatArray) -> None:
        """Take the policy's part of the clean observation: all but the bodies and gravity."""
        commanded, bodies = 2 * self.num_joints + 9, 9 * len(self.size.readout.bodies)
        np.add(clean[:, :commanded], noise[:, :commanded], out=out[:, :commanded])
        np.add(clean[:, commanded + bodies : -3], noise[:, commanded:], out=out[:, commanded:])

    def _write_clean(self, rows: RowArray | slice, out: FloatArray) -> None:
        engine, joints = self.engine, self.num_joints
        frame = self.frame[rows]
        np.take(self.motion.qpos[:, 7:], frame, axis=0, out=out[:, :joints], mode="clip")
        np.take(self.motion.qvel[:, 6:], frame, axis=0, out=out[:, joints : 2 * joints], mode="clip")
        at = self._write_bodies(rows, out, 2 * joints)
        out[:, at : at + 3] = self._linear_velocity[rows]
        out[:, at + 3 : at + 6] = engine.qvel[rows, 3:6]
        at += 6
        np.subtract(engine.qpos[rows, 7:], self._default_pose, out=out[:, at : at + joints])
        out[:, at + joints : at + 2 * joints] = engine.qvel[rows, 6:]
        out[:, at + 2 * joints : at + 3 * joints] = self.action[rows]
        out[:, -3:] = self._gravity[rows]

    def _write_bodies(self, rows: RowArray | slice, out: FloatArray, at: int) -> int:
        """Write the reference's anchor and the robot's bodies in the robot's anchor frame."""
        anchor, motion, frame = self.task.bodies.anchor, self.motion, self.frame[rows]
        position, quaternion = self.engine.body_position[rows], self.engine.body_quaternion[rows]
        origin, to_anchor = position[:, anchor], conjugate(quaternion[:, anchor])
        rotate_inverse(
            quaternion[:, anchor], motion.body_position[frame, anchor] - origin, out=out[:, at : at + 3]
        )
        two_axes(multiply(to_anchor, motion.body_quaternion[frame, anchor]), out=out[:, at + 3 : at + 9])
        at += 9
        count, bodies = len(position), len(self.size.readout.bodies)
        local = rotate_inverse(quaternion[:, anchor, None], position - origin[:, None])
        out[:, at : at + 3 * bodies] = local.reshape(count, -1)
        at += 3 * bodies
        axes = two_axes(multiply(to_anchor[:, None], quaternion))
        out[:, at : at + 6 * bodies] = axes.reshape(count, -1)
        return at + 6 * bodies

    def reset_rows(self, rows: RowArray) -> None:
        """Put the robot near a frame of the motion, and ask for the next one."""
        frame = self.starts.draw(self.streams["start_frame"], len(rows))
        qpos, qvel = draw_states_about(
            self.motion.qpos[frame], self.motion.qvel[frame], self.task.resets, self._limits, self.streams
        )
        self._begin_rows(rows, qpos, qvel, derive=True)
        self.frame[rows] = (frame + 1) % self.motion.frames


def _down(quaternion: FloatArray) -> FloatArray:
    """Vertical part of gravity in body axes."""
    x, y = quaternion[:, 1], quaternion[:, 2]
    down: FloatArray = x * x + y * y
    down *= 2.0
    down -= 1.0
    return down


def _noise_widths(task: MotionTrackingTask) -> FloatArray:
    noise, joints = task.noise, task.size.robot.num_joints
    widths = np.concatenate(
        [
            np.zeros(2 * joints),
            np.full(3, noise.anchor_position),
            np.full(6, noise.anchor_orientation),
            np.full(3, noise.linear_velocity),
            np.full(3, noise.angular_velocity),
            np.full(joints, noise.joint_angle),
            np.full(joints, noise.joint_velocity),
            np.zeros(joints),
        ]
    )
    return (2.0 * widths).astype(np.float32)
