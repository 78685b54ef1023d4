"""What the tasks of the direct runtime share: joints, the base, and the way an observation is handed out."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.engines.contract import Engine
from envdyno.suite.environment import SuiteEnvironment, TaskSize
from envdyno.suite.rotations import projected_gravity, rotate_inverse
from envdyno.suite.streams import Streams
from envdyno.suite.tasks.joint_limits import soft_limits


class DirectEnvironment(SuiteEnvironment):
    """Buffers that are written in place, and the parts of a step that no task does differently."""

    runtime = "direct"

    def __init__(
        self,
        size: TaskSize,
        engine: Engine,
        num_envs: int,
        streams: Streams,
        *,
        action_scale: tuple[float, ...],
        soft_limit: float,
        noise_width: FloatArray,
    ) -> None:
        """Allocate what every task needs. The task allocates its own and calls ``start``.

        Args:
            size: of the task.
            engine: steps the robots.
            num_envs: number of environments.
            streams: random numbers.
            action_scale: of each joint, in rad.
            soft_limit: share of a joint's range within which it is not punished.
            noise_width: of the uniform noise on the policy's observation, shape (policy_size,).
        """
        super().__init__(size, engine, num_envs, streams)
        joints = self.num_joints
        self._default_pose = np.asarray(size.robot.default_pose, np.float32)
        self._action_scale = np.asarray(action_scale, np.float32)
        self._limits = soft_limits(engine.joint_range, soft_limit)
        self._noise_width = noise_width
        self.action = np.zeros((num_envs, joints), np.float32)
        self._last_action = np.zeros((num_envs, joints), np.float32)
        self._targets = np.zeros((num_envs, joints), np.float32)
        self._last_joint_velocity = np.zeros((num_envs, joints), np.float32)
        self._gravity = np.zeros((num_envs, 3), np.float32)
        self._linear_velocity = np.zeros((num_envs, 3), np.float32)
        self._noise = np.zeros((num_envs, size.policy_size), np.float32)
        self._joint_scratch = np.zeros((num_envs, joints), np.float32)
        self._term = np.zeros(num_envs, np.float32)

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
        """Base velocity and gravity in base axes."""
        engine = self.engine
        if engine.diverged.any():
            self.action[engine.diverged] = 0.0  # what made the row diverge must not live on in observations
        rotate_inverse(engine.qpos[:, 3:7], engine.qvel[:, :3], out=self._linear_velocity)
        projected_gravity(engine.qpos[:, 3:7], out=self._gravity)

    def _add(self, out: FloatArray, weight: float, term: FloatArray | BoolArray) -> None:
        np.multiply(term, np.float32(weight), out=self._term)
        out += self._term

    def _joint_acceleration(self) -> FloatArray:
        """Sum over the joints of the squared acceleration."""
        scratch = self._joint_scratch
        np.subtract(self.engine.qvel[:, 6:], self._last_joint_velocity, out=scratch)
        scratch *= np.float32(1.0 / self.size.step_s)
        return _squares(scratch)

    def _action_rate(self) -> FloatArray:
        """Sum over the joints of the squared change of the action."""
        np.subtract(self.action, self._last_action, out=self._joint_scratch)
        return _squares(self._joint_scratch)

    def _beyond_limits(self) -> FloatArray:
        """Sum over the joints of the angle beyond the soft limits."""
        angles, scratch = self.engine.qpos[:, 7:], self._joint_scratch
        np.clip(angles, *self._limits, out=scratch)
        np.subtract(angles, scratch, out=scratch)
        np.abs(scratch, out=scratch)
        summed: FloatArray = np.einsum("ij->i", scratch)
        return summed

    def observe(self, policy: FloatArray, critic: FloatArray) -> None:
        """Clean observation into the critic's, noise added for the policy's."""
        self._write_clean(slice(None), critic)
        self.streams["noise"].random(out=self._noise, dtype=np.float32)
        self._add_noise(critic, self._widened(self._noise), policy)

    def observe_rows(self, rows: RowArray, policy: FloatArray, critic: FloatArray) -> None:
        """Observe the rows that were just reset."""
        clean = np.empty((len(rows), self.size.critic_size), np.float32)
        noisy = np.empty((len(rows), self.size.policy_size), np.float32)
        self._write_clean(rows, clean)
        unit = self.streams["noise"].random(noisy.shape, dtype=np.float32)
        self._add_noise(clean, self._widened(unit), noisy)
        critic[rows], policy[rows] = clean, noisy

    def _widened(self, unit: FloatArray) -> FloatArray:
        """Turn numbers from 0 to 1 into noise about 0, in place."""
        unit -= np.float32(0.5)
        unit *= self._noise_width
        return unit

    @abstractmethod
    def _write_clean(self, rows: RowArray | slice, out: FloatArray) -> None:
        """Write the critic's observation of some rows."""

    @abstractmethod
    def _add_noise(self, clean: FloatArray, noise: FloatArray, out: FloatArray) -> None:
        """Write the policy's part of a clean observation with noise added."""

    def _begin_rows(self, rows: RowArray, qpos: FloatArray, qvel: FloatArray, *, derive: bool) -> None:
        """Put the robots of some rows into a state, and forget their episodes."""
        self.engine.write_state(rows, qpos, qvel, derive=derive)
        self._gravity[rows] = projected_gravity(qpos[:, 3:7])
        self._linear_velocity[rows] = rotate_inverse(qpos[:, 3:7], qvel[:, :3])
        self.action[rows] = 0.0


def _squares(values: FloatArray) -> FloatArray:
    squared: FloatArray = np.einsum("ij,ij->i", values, values)
    return squared
