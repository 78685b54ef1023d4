"""The motion tracking tasks in the direct runtime: one fused class."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.engines.contract import Engine
from envdyno.suite.environment import SuiteEnvironment
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
from envdyno.suite.streams import Streams
from envdyno.suite.tasks.joint_limits import soft_limits
from envdyno.suite.tasks.motion_tracking import MotionTrackingTask
from envdyno.suite.tasks.start_sampler import StartSampler
from envdyno.suite.tasks.start_states import draw_states_about


class DirectMotionTrackingEnvironment(SuiteEnvironment):
    """Computes a :class:`~envdyno.suite.tasks.motion_tracking.MotionTrackingTask`."""

    runtime = "direct"

    def __init__(self, task: MotionTrackingTask, engine: Engine, num_envs: int, streams: Streams) -> None:
        """Load the motion, allocate the buffers and start every episode."""
        super().__init__(task.size, engine, num_envs, streams)
        self.task = task
        self.motion = load_motion(task.size.robot, task.size.step_s, engine)
        self.starts = StartSampler(task.start, self.motion.frames)
        joints, bodies = self.num_joints, len(task.size.readout.bodies)
        self._default_pose = np.asarray(task.size.robot.default_pose, np.float32)
        self._action_scale = np.asarray(task.action_scale, np.float32)
        self._limits = soft_limits(engine.joint_range, task.soft_limit)
        self._ends = np.asarray(task.bodies.ends)
        self._noise_width = _noise_widths(task)

        self.frame = np.zeros(num_envs, np.int32)
        self.action = np.zeros((num_envs, joints), np.float32)
        self._last_action = np.zeros((num_envs, joints), np.float32)
        self._targets = np.zeros((num_envs, joints), np.float32)
        self._last_joint_velocity = np.zeros((num_envs, joints), np.float32)
        self._gravity = np.zeros((num_envs, 3), np.float32)
        self._linear_velocity = np.zeros((num_envs, 3), np.float32)
        self._reference_position = np.zeros((num_envs, bodies, 3), np.float32)
        self._reference_quaternion = np.zeros((num_envs, bodies, 4), np.float32)
        self._reference_velocity = np.zeros((num_envs, bodies, 3), np.float32)
        self._moved_position = np.zeros((num_envs, bodies, 3), np.float32)
        self._moved_quaternion = np.zeros((num_envs, bodies, 4), np.float32)
        self._anchor_drop = np.zeros(num_envs, np.float32)
        self._body_scratch = np.zeros((num_envs, bodies, 3), np.float32)
        self._joint_scratch = np.zeros((num_envs, joints), np.float32)
        self._noise = np.zeros((num_envs, task.size.policy_size), np.float32)
        self._term = np.zeros(num_envs, np.float32)
        self.start()

    def apply_action(self, actions: FloatArray) -> None:
        """Turn actions into joint targets about the default pose."""
        self._last_action, self.action = self.action, self._last_action
        np.clip(actions, -1.0, 1.0, out=self.action)
        np.multiply(self.action, self._action_scale, out=self._targets)
        self._targets += self._default_pose
        self._last_joint_velocity[:] = self.engine.qvel[:, 6:]

    def simulate(self) -> None:
        """One dispatch for all substeps."""
        self.engine.step(self._targets)

    def refresh(self) -> None:
        """Gravity and base velocity in base axes, and the reference moved to the robot."""
        engine = self.engine
        if engine.diverged.any():
            self.action[engine.diverged] = 0.0  # what made the row diverge must not live on in observations
        rotate_inverse(engine.qpos[:, 3:7], engine.qvel[:, :3], out=self._linear_velocity)
        projected_gravity(engine.qpos[:, 3:7], out=self._gravity)
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

    def _add(self, out: FloatArray, weight: float, term: FloatArray) -> None:
        np.multiply(term, np.float32(weight), out=self._term)
        out += self._term

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
        weights, scratch = self.task.weights, self._joint_scratch
        np.subtract(self.action, self._last_action, out=scratch)
        self._add(out, weights.action_rate, np.einsum("ij,ij->i", scratch, scratch))
        np.subtract(self.engine.qvel[:, 6:], self._last_joint_velocity, out=scratch)
        scratch *= np.float32(1.0 / self.size.step_s)
        self._add(out, weights.joint_acceleration, np.einsum("ij,ij->i", scratch, scratch))
        angles = self.engine.qpos[:, 7:]
        np.clip(angles, *self._limits, out=scratch)
        np.subtract(angles, scratch, out=scratch)
        np.abs(scratch, out=scratch)
        self._add(out, weights.joint_limits, np.einsum("ij->i", scratch))

    def advance_commands(self) -> None:
        """Note failures, and move the reference on by one frame."""
        self.starts.record(self.frame[self.terminated])
        self.frame += 1
        self.frame %= self.motion.frames

    def observe(self, policy: FloatArray, critic: FloatArray) -> None:
        """Clean observation into the critic's, noise added for the policy's."""
        self._write_clean(slice(None), critic)
        self.streams["noise"].random(out=self._noise, dtype=np.float32)
        self._add_noise(critic, self._noise, policy)

    def observe_rows(self, rows: RowArray, policy: FloatArray, critic: FloatArray) -> None:
        """Observe the rows that were just reset."""
        clean = np.empty((len(rows), self.size.critic_size), np.float32)
        noisy = np.empty((len(rows), self.size.policy_size), np.float32)
        self._write_clean(rows, clean)
        self._add_noise(clean, self.streams["noise"].random(noisy.shape, dtype=np.float32), noisy)
        critic[rows], policy[rows] = clean, noisy

    def _add_noise(self, clean: FloatArray, unit: FloatArray, out: FloatArray) -> None:
        """Take the policy's part of the clean observation: all but the bodies and gravity."""
        unit -= np.float32(0.5)
        unit *= self._noise_width
        commanded, bodies = 2 * self.num_joints + 9, 9 * len(self.size.readout.bodies)
        np.add(clean[:, :commanded], unit[:, :commanded], out=out[:, :commanded])
        np.add(clean[:, commanded + bodies : -3], unit[:, commanded:], out=out[:, commanded:])

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
        self.engine.write_state(rows, qpos, qvel, derive=True)
        self._gravity[rows] = projected_gravity(qpos[:, 3:7])
        self._linear_velocity[rows] = rotate_inverse(qpos[:, 3:7], qvel[:, :3])
        self.action[rows] = 0.0
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
