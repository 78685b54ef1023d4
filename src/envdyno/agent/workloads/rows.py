"""Counting from rows: observations, rewards, terminated, truncated, information."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.workloads.contract import Autoreset, Tally


def is_row_result(outcome: Any) -> bool:
    """Return whether a step returned Gymnasium's five values, or the older four with ``done``."""
    return isinstance(outcome, tuple) and not isinstance(outcome, Tally) and len(outcome) in (4, 5)


class RowCounter:
    """Wraps a ``step`` that returns rows, and counts by the autoreset mode.

    With next-step autoreset, the rows that ended at the previous call only reset in this one (Gymnasium,
    "Vector environments: autoreset modes"); in every other mode each row of each call is a transition.
    """

    def __init__(self, step: Callable[[Any], Any], num_envs: int, autoreset: Autoreset) -> None:
        """Count for ``num_envs`` rows."""
        self._step = step
        self._num_envs = num_envs
        self._next_step = autoreset is Autoreset.NEXT_STEP
        self._ended_before = 0
        self._observation: Any = None

    def observe(self, outcome: Any) -> Tally:
        """Count one outcome, and remember it for the next."""
        self._observation = outcome[0]
        ended = outcome[2] | outcome[3] if len(outcome) == 5 else outcome[2]
        episodes = int(ended.sum())
        reset_rows = self._ended_before if self._next_step else 0
        self._ended_before = episodes
        return Tally(self._num_envs - reset_rows, reset_rows, episodes, None, float(outcome[1].sum()))

    def step(self, actions: Any) -> Tally:
        """Step and count."""
        return self.observe(self._step(actions))

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._observation
