"""``go2_joystick_flat``, direct runtime."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.direct.resets import draw_start_states
from envdyno.suite.engines.contract import Engine
from envdyno.suite.environment import SuiteEnvironment
from envdyno.suite.rotations import projected_gravity, rotate_inverse
from envdyno.suite.streams import Streams
from envdyno.suite.tasks import go2_joystick_flat as task
from envdyno.suite.tasks.velocity_command import draw_commands

_TWO_PI = np.float32(2.0 * np.pi)


class Go2JoystickFlat(SuiteEnvironment):
    """All of the task in one class; see :mod:`envdyno.suite.tasks.go2_joystick_flat`."""

    runtime = "direct"

    def __init__(self, engine: Engine, num_envs: int, threads: int, streams: Streams) -> None:
        """Allocate the buffers and start every episode."""
        super().__init__(task.SIZE, engine, num_envs, threads, streams)
        joints, robot = self.num_joints, task.SIZE.robot
        self._default_pose = np.asarray(robot.default_pose, np.float32)
        self._action_scale = np.asarray(robot.action_scale, np.float32)
        self._hips = np.asarray(task.HIPS)
        self._foot_phase = np.asarray(task.GAIT_OFFSETS, np.float32)
        self._noise_width = _noise_widths(joints)

        self._action = np.zeros((num_envs, joints), np.float32)
        self._last_action = np.zeros((num_envs, joints), np.float32)
        self._targets = np.zeros((num_envs, joints), np.float32)
        self._last_joint_velocity = np.zeros((num_envs, joints), np.float32)
        self._command = np.zeros((num_envs, 3), np.float32)
        self._command_steps = np.zeros(num_envs, np.int32)
        self._phase = np.zeros(num_envs, np.float32)
        self._air_time = np.zeros((num_envs, 4), np.float32)

        self._gravity = np.zeros((num_envs, 3), np.float32)
        self._linear_velocity = np.zeros((num_envs, 3), np.float32)
        self._contact = np.zeros((num_envs, 4), bool)
        self._moving = np.zeros(num_envs, bool)
        self._noise = np.zeros((num_envs, task.SIZE.policy_size), np.float32)
        self._joint_scratch = np.zeros((num_envs, joints), np.float32)
        self._term = np.zeros(num_envs, np.float32)
        self.start()

    def apply_action(self, actions: FloatArray) -> None:
        """Turn actions into joint targets about the default pose."""
        self._last_action, self._action = self._action, self._last_action
        np.clip(actions, -1.0, 1.0, out=self._action)
        np.multiply(self._action, self._action_scale, out=self._targets)
        self._targets += self._default_pose
        self._last_joint_velocity[:] = self.engine.qvel[:, 6:]

    def simulate(self) -> None:
        """One dispatch for both substeps."""
        self.engine.step(self._targets)

    def refresh(self) -> None:
        """Base velocity and gravity in base axes, contacts, gait clock."""
        engine = self.engine
        if engine.diverged.any():
            self._action[engine.diverged] = 0.0  # what made the row diverge must not live on in observations
        rotate_inverse(engine.qpos[:, 3:7], engine.qvel[:, :3], out=self._linear_velocity)
        projected_gravity(engine.qpos[:, 3:7], out=self._gravity)
        np.greater(engine.foot_force, task.REWARD_PARAMETERS.contact_force, out=self._contact)
        self._phase += np.float32(task.GAIT_HZ * task.SIZE.step_s)
        self._phase -= np.floor(self._phase)

    def terminate(self, out: BoolArray) -> None:
        """Tilted too far, or too low."""
        np.greater(self._gravity[:, 2], -task.TERMINATIONS.least_upright, out=out)
        out |= self.engine.qpos[:, 2] < task.TERMINATIONS.least_height

    def evaluate(self, out: FloatArray) -> None:
        """Sum of the weighted terms, for one step."""
        out[:] = 0.0
        np.greater(
            np.einsum("ij,ij->i", self._command, self._command), task.MOVING_COMMAND**2, out=self._moving
        )
        self._reward_tracking(out)
        self._reward_base(out)
        self._reward_joints(out)
        self._reward_feet(out)
        out *= np.float32(task.SIZE.step_s)

    def _add(self, out: FloatArray, weight: float, term: FloatArray | BoolArray) -> None:
        np.multiply(term, np.float32(weight), out=self._term)
        out += self._term

    def _reward_tracking(self, out: FloatArray) -> None:
        weights, scale = task.REWARD_WEIGHTS, np.float32(-1.0 / task.REWARD_PARAMETERS.tracking_variance)
        error = self._command[:, :2] - self._linear_velocity[:, :2]
        self._add(out, weights.track_linear_velocity, np.exp(np.einsum("ij,ij->i", error, error) * scale))
        turn = self._command[:, 2] - self.engine.qvel[:, 5]
        self._add(out, weights.track_angular_velocity, np.exp(np.square(turn) * scale))

    def _reward_base(self, out: FloatArray) -> None:
        weights = task.REWARD_WEIGHTS
        self._add(out, weights.vertical_velocity, np.square(self._linear_velocity[:, 2]))
        rate = self.engine.qvel[:, 3:5]
        self._add(out, weights.roll_pitch_rate, np.einsum("ij,ij->i", rate, rate))
        tilt = self._gravity[:, :2]
        self._add(out, weights.orientation, np.einsum("ij,ij->i", tilt, tilt))
        height = self.engine.qpos[:, 2] - np.float32(task.REWARD_PARAMETERS.height_target)
        self._add(out, weights.base_height, np.square(height))

    def _reward_joints(self, out: FloatArray) -> None:
        weights, scratch = task.REWARD_WEIGHTS, self._joint_scratch
        np.subtract(self.engine.qvel[:, 6:], self._last_joint_velocity, out=scratch)
        scratch *= np.float32(1.0 / task.SIZE.step_s)
        self._add(out, weights.joint_acceleration, np.einsum("ij,ij->i", scratch, scratch))
        np.subtract(self._action, self._last_action, out=scratch)
        self._add(out, weights.action_rate, np.einsum("ij,ij->i", scratch, scratch))
        hips = self.engine.qpos[:, 7 + self._hips] - self._default_pose[self._hips]
        self._add(out, weights.hip_deviation, np.einsum("ij,ij->i", hips, hips))

    def _reward_feet(self, out: FloatArray) -> None:
        weights, contact = task.REWARD_WEIGHTS, self._contact
        phase = self._phase[:, None] + self._foot_phase
        stance = (phase - np.floor(phase)) < 0.5
        matched = (stance == contact) & self._moving[:, None]
        self._add(out, weights.gait, np.einsum("ij->i", matched, dtype=np.float32) * np.float32(0.25))

        landed = contact & (self._air_time > 0.0) & self._moving[:, None]
        early = self._air_time - np.float32(task.REWARD_PARAMETERS.air_time_target_s)
        self._add(out, weights.air_time, np.einsum("ij,ij->i", landed, early))
        self._air_time += np.float32(task.SIZE.step_s)
        self._air_time[contact] = 0.0

        sliding = self.engine.foot_velocity[:, :, :2]
        speed = np.einsum("ijk,ijk->ij", sliding, sliding)
        self._add(out, weights.foot_slip, np.einsum("ij,ij->i", speed, contact))

    def advance_commands(self) -> None:
        """Draw new commands where the held ones have run out."""
        self._command_steps -= 1
        due = np.flatnonzero(self._command_steps <= 0)
        if due.size:
            self._draw_commands(due)

    def _draw_commands(self, rows: RowArray) -> None:
        drawn = draw_commands(task.COMMANDS, self.streams["command"], len(rows))
        self._command[rows], self._command_steps[rows] = drawn

    def observe(self, policy: FloatArray, critic: FloatArray) -> None:
        """Clean observation into the critic's, noise added for the policy's."""
        self._write_clean(slice(None), critic)
        self.streams["noise"].random(out=self._noise, dtype=np.float32)
        self._add_noise(critic, self._noise, policy)

    def observe_rows(self, rows: RowArray, policy: FloatArray, critic: FloatArray) -> None:
        """Observe the rows that were just reset."""
        clean = np.empty((len(rows), task.SIZE.critic_size), np.float32)
        noisy = np.empty((len(rows), task.SIZE.policy_size), np.float32)
        self._write_clean(rows, clean)
        self._add_noise(clean, self.streams["noise"].random(noisy.shape, dtype=np.float32), noisy)
        critic[rows], policy[rows] = clean, noisy

    def _add_noise(self, clean: FloatArray, unit: FloatArray, out: FloatArray) -> None:
        unit -= np.float32(0.5)
        unit *= self._noise_width
        np.add(clean[:, : task.SIZE.policy_size], unit, out=out)

    def _write_clean(self, rows: RowArray | slice, out: FloatArray) -> None:
        engine, scales = self.engine, task.OBSERVATION_SCALES
        np.multiply(engine.qvel[rows, 3:6], np.float32(scales.angular_velocity), out=out[:, 0:3])
        out[:, 3:6] = self._gravity[rows]
        out[:, 6:9] = self._command[rows]
        np.subtract(engine.qpos[rows, 7:], self._default_pose, out=out[:, 9:21])
        np.multiply(engine.qvel[rows, 6:], np.float32(scales.joint_velocity), out=out[:, 21:33])
        out[:, 33:45] = self._action[rows]
        angle = self._phase[rows] * _TWO_PI
        np.sin(angle, out=out[:, 45])
        np.cos(angle, out=out[:, 46])
        np.negative(out[:, 45:47], out=out[:, 47:49])  # the other diagonal pair, half a period on
        np.multiply(self._linear_velocity[rows], np.float32(scales.linear_velocity), out=out[:, 49:52])

    def reset_rows(self, rows: RowArray) -> None:
        """Stand the robot up somewhere, and forget the episode."""
        ranges = task.RESET_RANGES
        qpos, qvel = draw_start_states(
            task.SIZE.robot,
            self.streams,
            len(rows),
            position=ranges.position,
            linear_velocity=ranges.linear_velocity,
            angular_velocity=ranges.angular_velocity,
            joint_angle=ranges.joint_angle,
        )
        self.engine.write_state(rows, qpos, qvel, derive=False)
        self._gravity[rows] = projected_gravity(qpos[:, 3:7])
        self._linear_velocity[rows] = rotate_inverse(qpos[:, 3:7], qvel[:, :3])
        self._action[rows] = 0.0
        self._air_time[rows] = 0.0
        self._phase[rows] = self.streams["gait_phase"].random(len(rows), dtype=np.float32)
        self._draw_commands(rows)


def _noise_widths(joints: int) -> FloatArray:
    noise, scales = task.OBSERVATION_NOISE, task.OBSERVATION_SCALES
    widths = np.concatenate(
        [
            np.full(3, noise.angular_velocity * scales.angular_velocity),
            np.full(3, noise.gravity),
            np.zeros(3),
            np.full(joints, noise.joint_angle),
            np.full(joints, noise.joint_velocity * scales.joint_velocity),
            np.zeros(joints + 4),
        ]
    )
    return (2.0 * widths).astype(np.float32)
