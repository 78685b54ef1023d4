"""What a collector counts besides the replay buffer: episodes, and for FlashSAC the scale of returns."""

from __future__ import annotations

import math

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray

RECENT_EPISODES = 1024
"""Ended episodes whose return and length are kept, for the running means that trainers log."""


class EpisodeBooks:
    """Return and length of the running episodes, and of the latest that ended."""

    def __init__(self, num_envs: int) -> None:
        """Begin at zero for ``num_envs`` rows."""
        self._running_return = np.zeros(num_envs, np.float32)
        self._running_length = np.zeros(num_envs, np.int32)
        self._returns = np.zeros(RECENT_EPISODES, np.float32)
        self._lengths = np.zeros(RECENT_EPISODES, np.int32)
        self.ended = 0
        """Episodes that have ended."""
        self.truncated = 0
        """Those of them that a time limit ended."""

    def add(self, reward: FloatArray, done_rows: RowArray, truncated: BoolArray) -> None:
        """Add one vector step."""
        self._running_return += reward
        self._running_length += 1
        if not done_rows.size:
            return
        last = done_rows[-RECENT_EPISODES:]
        at = (self.ended + len(done_rows) - len(last) + np.arange(len(last))) % RECENT_EPISODES
        self._returns[at] = self._running_return[last]
        self._lengths[at] = self._running_length[last]
        self._running_return[done_rows] = 0.0
        self._running_length[done_rows] = 0
        self.ended += len(done_rows)
        self.truncated += int(np.count_nonzero(truncated[done_rows]))

    def recent(self) -> tuple[FloatArray, np.ndarray[tuple[int, ...], np.dtype[np.int32]]]:
        """Returns and lengths of the latest ended episodes, in no order."""
        kept = min(self.ended, RECENT_EPISODES)
        return self._returns[:kept], self._lengths[:kept]


class ReturnScale:
    """FlashSAC's scale of rewards: spread and largest size of the discounted return.

    The learner divides rewards by the larger of the return's standard deviation and its largest size over
    ``largest_scaled``; the statistics are kept where the transitions are seen, in every step. Mean and
    variance over all rows and steps are merged batch by batch (Chan, Golub, LeVeque 1983).
    """

    def __init__(self, num_envs: int, discount: float, largest_scaled: float) -> None:
        """Begin with no returns seen.

        Args:
            num_envs: rows.
            discount: of a reward one step later.
            largest_scaled: size of the largest scaled return.
        """
        self._discount = np.float32(discount)
        self._largest_scaled = largest_scaled
        self._return = np.zeros(num_envs, np.float32)
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0
        self._largest = 0.0

    def add(self, reward: FloatArray, done_rows: RowArray) -> None:
        """Add one vector step."""
        self._return *= self._discount
        self._return += reward
        rows = len(self._return)
        mean = float(self._return.mean(dtype=np.float64))
        squares = float(np.square(self._return - np.float32(mean)).sum(dtype=np.float64))
        total = self._count + rows
        apart = mean - self._mean
        self._squares += squares + apart * apart * self._count * rows / total
        self._mean += apart * rows / total
        self._count = total
        self._largest = max(self._largest, float(self._return.max()), -float(self._return.min()))
        if done_rows.size:
            self._return[done_rows] = 0.0

    @property
    def divisor(self) -> float:
        """What rewards are divided by; 1 before the first step."""
        if not self._count:
            return 1.0
        return max(math.sqrt(self._squares / self._count), self._largest / self._largest_scaled, 1e-8)
