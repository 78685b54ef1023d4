"""Adaptive choice of the frame at which episodes begin."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import AnyArray
from envdyno.suite.tasks.motion_tracking import StartPhase


class StartSampler:
    """Counts where in a motion episodes fail, and begins new ones there more often.

    Failures are kept as a moving average for each bin of the motion; a start is drawn from them mixed with
    an even choice, uniformly within its bin.
    """

    def __init__(self, phase: StartPhase, frames: int) -> None:
        """Begin with no failures, which is an even choice."""
        self._phase, self._frames = phase, frames
        self._failures = np.zeros(phase.bins)

    def record(self, failed_frames: AnyArray) -> None:
        """Note the frames at which episodes failed in one step; an empty array counts as a step, too."""
        self._failures *= 1.0 - self._phase.forgetting
        if failed_frames.size:
            bins = failed_frames.astype(np.int64) * self._phase.bins // self._frames
            counts = np.bincount(bins, minlength=self._phase.bins)
            self._failures += self._phase.forgetting * counts

    def draw(self, generator: np.random.Generator, count: int) -> AnyArray:
        """Return ``count`` start frames."""
        weights = self._failures + self._phase.uniform_share / self._phase.bins
        edges = np.cumsum(weights)
        drawn = generator.random((count, 2))
        bins = np.searchsorted(edges, drawn[:, 0] * edges[-1], side="right")
        bins = np.minimum(bins, self._phase.bins - 1)
        frames: AnyArray = (bins + drawn[:, 1]) * (self._frames / self._phase.bins)
        return frames.astype(np.int32)
