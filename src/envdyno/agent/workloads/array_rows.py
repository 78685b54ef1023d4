"""Counting rows of NumPy arrays at the price of a few microseconds a vector step."""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import Autoreset, Tally

LONGEST_DOT = 8192
"""Beyond this BLAS may wake up its threads for a sum."""


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
        self._num_envs = num_envs
        self._reset_takes = 1 if autoreset is Autoreset.NEXT_STEP else 0
        self.ended = np.zeros(num_envs, bool)
        """Rows whose episode ended in the last step; the same array in every step."""
        self._ones: Any = None
        self._resetting = 0
        self._tick = self._started = self._episodes = self._earlier_steps = 0
        self._last_end = np.zeros(num_envs, np.int64)

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
        rows = int(self._np.count_nonzero(self._last_end > self._started))
        steps = int((self._last_end - self._started).sum())
        return self._earlier_steps + steps - self._reset_takes * (self._episodes - rows)

    def count(self, rewards: Any, terminated: Any, truncated: Any) -> Tally:
        """Count one vector step; arrays of ``num_envs`` rows."""
        np, ended = self._np, self.ended
        np.logical_or(terminated, truncated, ended)
        self._tick += 1
        reset_rows = self._resetting
        episodes = int(np.count_nonzero(ended))
        if episodes:
            np.putmask(self._last_end, ended, self._tick)
            self._episodes += episodes
        self._resetting = episodes * self._reset_takes
        return Tally(self._num_envs - reset_rows, reset_rows, episodes, None, self._sum(rewards))

    def _sum(self, rewards: Any) -> float:
        """Return the sum of the rewards; a product with ones takes half the time of a reduction."""
        ones = self._ones
        if ones is None or ones.dtype != rewards.dtype:
            if rewards.dtype.kind != "f" or rewards.size > LONGEST_DOT:
                return float(self._np.add.reduce(rewards))
            ones = self._ones = self._np.ones_like(rewards)
        return float(rewards.dot(ones))
