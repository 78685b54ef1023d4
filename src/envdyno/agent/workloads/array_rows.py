"""Counting rows of NumPy arrays at the price of a microsecond or two a vector step."""

from __future__ import annotations

from functools import partial
from typing import Any

from envdyno.agent.workloads.contract import Autoreset, Tally

LONGEST_DOT = 8192
"""Beyond this BLAS may wake up its threads for a sum."""
ENDS_KEPT = 64
"""Steps with ends between two looks at which rows they were; a look costs about ten steps' worth."""

_tally = partial(tuple.__new__, Tally)
"""A tally without the checks of a call with names: half the time."""


class ArrayRows:
    """Counts the transitions, reset rows and episodes of a batch from its rewards and ends.

    Same-step and disabled autoreset: every row of every step is a transition. Next-step: the rows that ended
    in a step only reset in the following one.

    Args:
        num_envs: rows of the batch.
        autoreset: how rows begin a new episode.
    """

    def __init__(self, num_envs: int, autoreset: Autoreset) -> None:
        """Begin before the first step."""
        import numpy as np

        self._np = np
        self._either, self._count = np.logical_or, np.count_nonzero
        self._num_envs = num_envs
        self._next_step = autoreset is Autoreset.NEXT_STEP
        self.ended = np.zeros(num_envs, bool)
        """Rows whose episode ended in the last step; the same array in every step."""
        self._ones: Any = None
        self._resetting = 0
        self._tick = self._started = self._episodes = self._earlier_steps = 0
        self._last_end = np.zeros(num_envs, np.int64)
        self._ends: list[bytes] = []
        self._end_ticks: list[int] = []

    def restart(self) -> None:
        """Forget what was running: every row was reset."""
        self._earlier_steps = self.episode_steps
        self._resetting = self._episodes = 0
        self._started = self._tick
        self._last_end[:] = self._tick

    @property
    def episode_steps(self) -> int:
        """Transitions in the episodes that have ended.

        From the start to the last end of a row, every step was a transition, or the reset before an episode
        that was not the row's first.
        """
        self._look_at_ends()
        steps = int((self._last_end - self._started).sum())
        if self._next_step:
            steps -= self._episodes - int(self._count(self._last_end > self._started))
        return self._earlier_steps + steps

    def count(self, rewards: Any, terminated: Any, truncated: Any) -> Tally:
        """Count one vector step; arrays of ``num_envs`` rows."""
        ended = self.ended
        self._either(terminated, truncated, ended)
        episodes = int(self._count(ended))
        self._tick += 1
        if episodes:
            self._episodes += episodes
            self._ends.append(ended.tobytes())
            self._end_ticks.append(self._tick)
            if len(self._ends) == ENDS_KEPT:
                self._look_at_ends()
        reward = self._sum(rewards)
        if not self._next_step:
            return _tally((self._num_envs, 0, episodes, None, reward))
        reset_rows, self._resetting = self._resetting, episodes
        return _tally((self._num_envs - reset_rows, reset_rows, episodes, None, reward))

    def _look_at_ends(self) -> None:
        """Bring the last end of every row up to date."""
        if not self._ends:
            return
        np = self._np
        ended = np.frombuffer(b"".join(self._ends), np.uint8).reshape(-1, self._num_envs)
        # Small numbers are multiplied and compared eight times as fast as ticks: 0 is no end, k the k-th.
        latest = (ended * np.arange(1, len(ended) + 1, dtype=np.uint8)[:, None]).max(axis=0)
        ticks = np.array((0, *self._end_ticks))
        np.copyto(self._last_end, ticks[latest], where=latest > 0)
        self._ends.clear()
        self._end_ticks.clear()

    def _sum(self, rewards: Any) -> float:
        """Return the sum of the rewards; a product with ones takes half the time of a reduction."""
        ones = self._ones
        if ones is None or ones.dtype != rewards.dtype:
            if rewards.dtype.kind != "f" or rewards.size > LONGEST_DOT:
                return float(self._np.add.reduce(rewards))
            ones = self._ones = self._np.ones_like(rewards)
        return float(rewards.dot(ones))
