"""The robot's state by name, and what is derived from it once a step."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import FloatArray, RowArray
from envdyno.suite.engines.contract import Engine
from envdyno.suite.robots.robot import Robot
from envdyno.suite.rotations import projected_gravity, rotate_inverse
from envdyno.suite.tasks.joint_limits import soft_limits


class RobotData:
    """Views of the engine's state, and derived quantities of all rows."""

    def __init__(self, robot: Robot, engine: Engine, step_s: float, soft_limit: float) -> None:
        """Name the parts of ``engine``'s arrays."""
        self._engine, self._step_s = engine, step_s
        self.default_joint_pos = np.asarray(robot.default_pose, np.float32)
        self.soft_joint_limits = soft_limits(engine.joint_range, soft_limit)
        self.root_pos_w = engine.qpos[:, :3]
        self.root_quat_w = engine.qpos[:, 3:7]
        self.joint_pos = engine.qpos[:, 7:]
        self.root_lin_vel_w = engine.qvel[:, :3]
        self.root_ang_vel_b = engine.qvel[:, 3:6]
        self.joint_vel = engine.qvel[:, 6:]
        self.body_pos_w = engine.body_position
        self.body_quat_w = engine.body_quaternion
        self.body_lin_vel_w = engine.body_linear_velocity
        self.body_ang_vel_w = engine.body_angular_velocity
        self.foot_vel_w = engine.foot_velocity
        self.root_lin_vel_b = rotate_inverse(self.root_quat_w, self.root_lin_vel_w)
        self.projected_gravity_b = projected_gravity(self.root_quat_w)
        self.joint_acc = np.zeros_like(self.joint_vel)
        self._previous_joint_vel = self.joint_vel.copy()

    def before_step(self) -> None:
        """Remember what the next accelerations are differences to."""
        self._previous_joint_vel = self.joint_vel.copy()

    def after_step(self) -> None:
        """Derive anew, for every row."""
        self.root_lin_vel_b = rotate_inverse(self.root_quat_w, self.root_lin_vel_w)
        self.projected_gravity_b = projected_gravity(self.root_quat_w)
        self.joint_acc = (self.joint_vel - self._previous_joint_vel) * np.float32(1.0 / self._step_s)

    def after_reset(self, rows: RowArray) -> None:
        """Derive anew for rows that were written."""
        self.root_lin_vel_b[rows] = rotate_inverse(self.root_quat_w[rows], self.root_lin_vel_w[rows])
        self.projected_gravity_b[rows] = projected_gravity(self.root_quat_w[rows])

    def write_root_state(
        self, rows: RowArray, position: FloatArray, quaternion: FloatArray, velocity: FloatArray
    ) -> None:
        """Write the base of ``rows``, and keep their joints.

        Args:
            rows: indices of environments.
            position: (rows, 3).
            quaternion: (rows, 4).
            velocity: (rows, 6), linear in world axes and angular in base axes.
        """
        qpos = np.concatenate([position, quaternion, self.joint_pos[rows]], axis=1)
        qvel = np.concatenate([velocity, self.joint_vel[rows]], axis=1)
        self._engine.write_state(rows, qpos, qvel, derive=False)

    def write_joint_state(self, rows: RowArray, position: FloatArray, velocity: FloatArray) -> None:
        """Write the joints of ``rows``, and keep their base."""
        qpos = np.concatenate([self._engine.qpos[rows, :7], position], axis=1)
        qvel = np.concatenate([self._engine.qvel[rows, :6], velocity], axis=1)
        self._engine.write_state(rows, qpos, qvel, derive=bool(self.body_pos_w.size))


class ContactSensor:
    """Which feet are on the ground, and for how long the others have been off it."""

    def __init__(self, engine: Engine, step_s: float, least_force: float) -> None:
        """Watch the feet of ``engine``'s readout."""
        self._engine, self._step_s, self._least_force = engine, step_s, least_force
        self.in_contact = np.zeros(engine.foot_force.shape, bool)
        self.first_contact = np.zeros(engine.foot_force.shape, bool)
        self.last_air_time = np.zeros(engine.foot_force.shape, np.float32)
        self._air_time = np.zeros(engine.foot_force.shape, np.float32)

    def after_step(self) -> None:
        """Read the forces."""
        self.in_contact = self._engine.foot_force > self._least_force
        self.first_contact = self.in_contact & (self._air_time > 0.0)
        self.last_air_time = self._air_time.copy()
        self._air_time += np.float32(self._step_s)
        self._air_time[self.in_contact] = 0.0

    def after_reset(self, rows: RowArray) -> None:
        """Forget the time in the air."""
        self._air_time[rows] = 0.0
