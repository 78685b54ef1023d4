"""Random events: what happens to a robot beside its actions."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import AnyArray, FloatArray
from envdyno.suite.streams import uniform
from envdyno.suite.tasks.velocity import Pushes


def draw_pushes(pushes: Pushes, generator: np.random.Generator, count: int) -> tuple[FloatArray, AnyArray]:
    """Draw ``count`` pushes.

    Returns:
        Changes of velocity (count, 3), horizontal, and control steps until each robot's next push.
    """
    velocity = np.zeros((count, 3), np.float32)
    velocity[:, :2] = uniform(generator, -pushes.velocity, pushes.velocity, (count, 2))
    low, high = pushes.interval_steps
    return velocity, generator.integers(low, high, count, dtype=np.int32)
