"""Resetting the rows that ended, for vectors that leave it to their caller (autoreset mode disabled)."""

from __future__ import annotations

from typing import Any

from envdyno.agent.measure.phases import phase


class EndedReset:
    """Resets rows of a ``VectorEnv``, as the phase ``reset_done``.

    By the option ``reset_mask`` of ``reset`` (https://farama.org/Vector-Autoreset-Mode).
    """

    def __init__(self, env: Any) -> None:
        """Reset rows of ``env``."""
        self._env = env
        self._reset_done = phase("reset_done")

    def __call__(self, ended: Any) -> Any:
        """Reset the rows that ``ended``, of which there is at least one; return all observations."""
        with self._reset_done:
            observation, _ = self._env.reset(options={"reset_mask": ended})
        return observation
