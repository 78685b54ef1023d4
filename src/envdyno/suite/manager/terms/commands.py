"""Command terms of locomotion."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.manager.command_manager import CommandTerm
from envdyno.suite.manager.environment import ManagerEnvironment
from envdyno.suite.tasks.velocity import Gait
from envdyno.suite.tasks.velocity_command import VelocityRanges, draw_commands


class UniformVelocityCommand(CommandTerm):
    """Velocities that a joystick would ask for, held for some seconds each."""

    def __init__(self, environment: ManagerEnvironment, ranges: VelocityRanges) -> None:
        """Hold nothing until the first reset."""
        super().__init__(environment)
        self._ranges = ranges
        self._velocity = np.zeros((environment.num_envs, 3), np.float32)
        self._steps_left = np.zeros(environment.num_envs, np.int32)

    @property
    def command(self) -> FloatArray:
        """Forward, sideways (m/s) and turn (rad/s), in base axes."""
        return self._velocity

    def advance(self) -> None:
        """Draw new commands where the held ones have run out."""
        self._steps_left -= 1
        due = np.flatnonzero(self._steps_left <= 0)
        if due.size:
            self.resample(due)

    def resample(self, rows: RowArray) -> None:
        """Draw new commands for ``rows``."""
        drawn = draw_commands(self._ranges, self.environment.streams["command"], len(rows))
        self._velocity[rows], self._steps_left[rows] = drawn


class GaitClock(CommandTerm):
    """The rhythm in which the feet should touch the ground."""

    def __init__(self, environment: ManagerEnvironment, gait: Gait) -> None:
        """Stand still until the first reset."""
        super().__init__(environment)
        self._advance = np.float32(gait.frequency_hz * environment.size.step_s)
        self._foot_phases = np.asarray(gait.foot_phases, np.float32)
        self._clock_phases = np.asarray(gait.clock_phases, np.float32)
        self._phase = np.zeros(environment.num_envs, np.float32)

    @property
    def command(self) -> FloatArray:
        """Sine and cosine of each clock phase, side by side."""
        angle = (self._phase[:, None] + self._clock_phases) * np.float32(2.0 * np.pi)
        return np.stack([np.sin(angle), np.cos(angle)], axis=2).reshape(len(angle), -1)

    def stance(self) -> BoolArray:
        """Which feet should be on the ground, (num_envs, feet)."""
        phase = self._phase[:, None] + self._foot_phases
        stance: BoolArray = (phase - np.floor(phase)) < 0.5
        return stance

    def advance(self) -> None:
        """Beat."""
        self._phase += self._advance
        self._phase -= np.floor(self._phase)

    def resample(self, rows: RowArray) -> None:
        """Begin anywhere in the period."""
        self._phase[rows] = self.environment.streams["gait_phase"].random(len(rows), dtype=np.float32)
