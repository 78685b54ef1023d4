"""Velocity commands: what a joystick would ask of the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from envdyno.suite.arrays import FloatArray


@dataclass(frozen=True)
class VelocityRanges:
    """Uniform ranges of commands, in the axes of the robot's base."""

    forward: tuple[float, float]
    """m/s."""
    sideways: tuple[float, float]
    """m/s."""
    turn: tuple[float, float]
    """rad/s."""
    standing: float
    """Share of commands that ask to stand still."""
    hold_steps: tuple[int, int]
    """A command is held for this many control steps, uniformly drawn."""


class DrawnCommands(NamedTuple):
    """Commands for some rows."""

    velocity: FloatArray
    """(rows, 3): forward, sideways, turn."""
    steps: np.ndarray[tuple[int, ...], np.dtype[np.int32]]
    """(rows,): control steps to hold them."""


def draw_commands(ranges: VelocityRanges, generator: np.random.Generator, count: int) -> DrawnCommands:
    """Draw ``count`` commands."""
    drawn = generator.random((count, 5), dtype=np.float32)
    velocity = np.empty((count, 3), np.float32)
    for column, (low, high) in enumerate((ranges.forward, ranges.sideways, ranges.turn)):
        np.multiply(drawn[:, column], np.float32(high - low), out=velocity[:, column])
        velocity[:, column] += np.float32(low)
    velocity[drawn[:, 3] < ranges.standing] = 0.0
    low_steps, high_steps = ranges.hold_steps
    steps = (low_steps + drawn[:, 4] * (high_steps - low_steps)).astype(np.int32)
    return DrawnCommands(velocity, steps)
