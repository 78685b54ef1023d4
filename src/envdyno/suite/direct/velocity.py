"""The velocity tasks in the direct runtime: one fused class."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.direct.environment import DirectEnvironment
from envdyno.suite.engines.contract import Engine
from envdyno.suite.streams import Streams
from envdyno.suite.tasks.events import draw_pushes
from envdyno.suite.tasks.start_states import draw_start_states
from envdyno.suite.tasks.velocity import VelocityTask
from envdyno.suite.tasks.velocity_command import draw_commands

_TWO_PI = np.float32(2.0 * np.pi)


class DirectVelocityEnvironment(DirectEnvironment):
    """Computes a :class:`~envdyno.suite.tasks.velocity.VelocityTask`."""

    def __init__(self, task: VelocityTask, engine: Engine, num_envs: int, streams: Streams) -> None:
        """Allocate the buffers and start every episode."""
        super().__init__(
            task.size,
            engine,
            num_envs,
            streams,
            action_scale=task.size.robot.action_scale,
            soft_limit=task.reward_parameters.soft_limit,
            noise_width=_noise_widths(task),
        )
        self.task = task
        feet = len(task.size.robot.feet)
        self._pose_columns = 7 + np.asarray(task.reward_parameters.pose_joints)
        self._pose = self._default_pose[np.asarray(task.reward_parameters.pose_joints)]
        self._foot_phases = np.asarray(task.gait.foot_phases, np.float32)
        self._clock_phases = np.asarray(task.gait.clock_phases, np.float32)

        self.command = np.zeros((num_envs, 3), np.float32)
        self.phase = np.zeros(num_envs, np.float32)
        self._command_steps = np.zeros(num_envs, np.int32)
        self._push_steps = np.zeros(num_envs, np.int32)
        self._air_time = np.zeros((num_envs, feet), np.float32)
        self._contact = np.zeros((num_envs, feet), bool)
        self._moving = np.zeros(num_envs, bool)
        self.start()

    def apply_action(self, actions: FloatArray) -> None:
        """Turn actions into joint targets about the default pose; push where a push is due."""
        super().apply_action(actions)
        self._push_steps -= 1
        due = np.flatnonzero(self._push_steps <= 0)
        if due.size:
            velocity, steps = draw_pushes(self.task.pushes, self.streams["push"], due.size)
            self.engine.push(due, velocity)
            self._push_steps[due] = steps

    def refresh(self) -> None:
        """Base velocity and gravity in base axes, contacts."""
        super().refresh()
        np.greater(self.engine.foot_force, self.task.reward_parameters.contact_force, out=self._contact)

    def terminate(self, terminated: BoolArray, truncated: BoolArray) -> None:
        """Tilted too far, or too low."""
        np.greater(self._gravity[:, 2], -self.task.terminations.least_upright, out=terminated)
        terminated |= self.engine.qpos[:, 2] < self.task.terminations.least_height
        self.out_of_time(truncated)

    def evaluate(self, out: FloatArray) -> None:
        """Sum of the weighted terms, for one step."""
        out[:] = 0.0
        moving = np.einsum("ij,ij->i", self.command, self.command)
        np.greater(moving, self.task.reward_parameters.moving_command**2, out=self._moving)
        self._reward_tracking(out)
        self._reward_base(out)
        self._reward_joints(out)
        self._reward_gait(out)
        self._reward_feet(out)
        self._add(out, self.task.weights.termination, self.terminated)
        out *= np.float32(self.size.step_s)

    def _reward_tracking(self, out: FloatArray) -> None:
        weights = self.task.weights
        scale = np.float32(-1.0 / self.task.reward_parameters.tracking_variance)
        error = self.command[:, :2] - self._linear_velocity[:, :2]
        self._add(out, weights.track_linear_velocity, np.exp(np.einsum("ij,ij->i", error, error) * scale))
        turn = self.command[:, 2] - self.engine.qvel[:, 5]
        self._add(out, weights.track_angular_velocity, np.exp(np.square(turn) * scale))

    def _reward_base(self, out: FloatArray) -> None:
        weights = self.task.weights
        self._add(out, weights.vertical_velocity, np.square(self._linear_velocity[:, 2]))
        rate = self.engine.qvel[:, 3:5]
        self._add(out, weights.roll_pitch_rate, np.einsum("ij,ij->i", rate, rate))
        tilt = self._gravity[:, :2]
        self._add(out, weights.orientation, np.einsum("ij,ij->i", tilt, tilt))
        height = self.engine.qpos[:, 2] - np.float32(self.task.reward_parameters.height_target)
        self._add(out, weights.base_height, np.square(height))

    def _reward_joints(self, out: FloatArray) -> None:
        weights = self.task.weights
        self._add(out, weights.joint_acceleration, self._joint_acceleration())
        self._add(out, weights.action_rate, self._action_rate())
        self._add(out, weights.joint_limits, self._beyond_limits())
        pose = self.engine.qpos[:, self._pose_columns]
        pose -= self._pose
        self._add(out, weights.pose, np.einsum("ij,ij->i", pose, pose))

    def _reward_gait(self, out: FloatArray) -> None:
        weights, contact = self.task.weights, self._contact
        phase = self.phase[:, None] + self._foot_phases
        stance = (phase - np.floor(phase)) < 0.5
        matched = (stance == contact) & self._moving[:, None]
        share = np.einsum("ij->i", matched, dtype=np.float32)
        share *= np.float32(1.0 / len(self._foot_phases))
        self._add(out, weights.gait, share)

        landed = contact & (self._air_time > 0.0) & self._moving[:, None]
        early = self._air_time - np.float32(self.task.gait.air_time_s)
        self._add(out, weights.air_time, np.einsum("ij,ij->i", landed, early))
        self._air_time += np.float32(self.size.step_s)
        self._air_time[contact] = 0.0

    def _reward_feet(self, out: FloatArray) -> None:
        sliding = self.engine.foot_velocity[:, :, :2]
        speed = np.einsum("ijk,ijk->ij", sliding, sliding)
        self._add(out, self.task.weights.foot_slip, np.einsum("ij,ij->i", speed, self._contact))

    def advance_commands(self) -> None:
        """Beat the gait clock; draw new commands where the held ones have run out."""
        self.phase += np.float32(self.task.gait.frequency_hz * self.size.step_s)
        self.phase -= np.floor(self.phase)
        self._command_steps -= 1
        due = np.flatnonzero(self._command_steps <= 0)
        if due.size:
            self._draw_commands(due)

    def _draw_commands(self, rows: RowArray) -> None:
        drawn = draw_commands(self.task.commands, self.streams["command"], len(rows))
        self.command[rows], self._command_steps[rows] = drawn

    def _add_noise(self, clean: FloatArray, noise: FloatArray, out: FloatArray) -> None:
        np.add(clean[:, : self.size.policy_size], noise, out=out)

    def _write_clean(self, rows: RowArray | slice, out: FloatArray) -> None:
        engine, scales, joints = self.engine, self.task.scales, self.num_joints
        np.multiply(engine.qvel[rows, 3:6], np.float32(scales.angular_velocity), out=out[:, 0:3])
        out[:, 3:6] = self._gravity[rows]
        out[:, 6:9] = self.command[rows]
        at = 9
        np.subtract(engine.qpos[rows, 7:], self._default_pose, out=out[:, at : at + joints])
        at += joints
        np.multiply(engine.qvel[rows, 6:], np.float32(scales.joint_velocity), out=out[:, at : at + joints])
        at += joints
        out[:, at : at + joints] = self.action[rows]
        at += joints
        angle = (self.phase[rows, None] + self._clock_phases) * _TWO_PI
        clocks = 2 * len(self._clock_phases)
        np.sin(angle, out=out[:, at : at + clocks : 2])
        np.cos(angle, out=out[:, at + 1 : at + clocks : 2])
        at += clocks
        np.multiply(self._linear_velocity[rows], np.float32(scales.linear_velocity), out=out[:, at : at + 3])

    def reset_rows(self, rows: RowArray) -> None:
        """Stand the robot up somewhere, and forget the episode."""
        qpos, qvel = draw_start_states(self.size.robot, self.task.resets, self.streams, len(rows))
        self._begin_rows(rows, qpos, qvel, derive=False)
        self._air_time[rows] = 0.0
        self.phase[rows] = self.streams["gait_phase"].random(len(rows), dtype=np.float32)
        low, high = self.task.pushes.interval_steps
        self._push_steps[rows] = self.streams["push"].integers(low, high, len(rows), dtype=np.int32)
        self._draw_commands(rows)


def _noise_widths(task: VelocityTask) -> FloatArray:
    noise, scales, joints = task.noise, task.scales, task.size.robot.num_joints
    widths = np.concatenate(
        [
            np.full(3, noise.angular_velocity * scales.angular_velocity),
            np.full(3, noise.gravity),
            np.zeros(3),
            np.full(joints, noise.joint_angle),
            np.full(joints, noise.joint_velocity * scales.joint_velocity),
            np.zeros(joints + 2 * len(task.gait.clock_phases)),
        ]
    )
    return (2.0 * widths).astype(np.float32)
