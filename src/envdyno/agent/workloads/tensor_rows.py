"""Counting rows of PyTorch tensors that reset in the same step, without waiting for their device."""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import Tally


class TensorRows:
    """Counts the transitions and episodes of a batch; what is counted stays on the device.

    Every row of every step is a transition. An operation a step notes when rows ended, and the lengths follow
    when they are asked for.

    Args:
        num_envs: rows of the batch.
        device: where the tensors are.
        torch: the package.
    """

    def __init__(self, num_envs: int, device: str, torch: Any) -> None:
        """Begin before the first step."""
        self._num_envs = num_envs
        self._tick = self._started = self._earlier_steps = 0
        self._last_end = torch.zeros(num_envs, dtype=torch.int64, device=device)

    def restart(self) -> None:
        """Forget what was running: every row was reset."""
        self._earlier_steps = self.episode_steps
        self._started = self._tick
        self._last_end.fill_(self._tick)

    @property
    def episode_steps(self) -> int:
        """Transitions in the episodes that have ended; reading it waits for the device.

        From the start to the last end of a row, every step was a transition of an episode that ended.
        """
        return self._earlier_steps + int((self._last_end - self._started).sum())

    def count(self, rewards: Any, ended: Any) -> Tally:
        """Count one vector step; tensors of ``num_envs`` rows, ``ended`` of truth values."""
        self._tick += 1
        self._last_end.masked_fill_(ended, self._tick)
        return Tally(self._num_envs, 0, ended.sum(), None, rewards.sum())
