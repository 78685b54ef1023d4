"""Counting from rows: observations, rewards, terminated, truncated, information."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.workloads.contract import Autoreset, Tally


def is_row_result(outcome: Any) -> bool:
    """Return whether a step returned Gymnasium's five values, or the older four with ``done``.

    Named tuples are something else, for example dm_env's ``TimeStep`` of four.
    """
    return isinstance(outcome, tuple) and not hasattr(outcome, "_fields") and len(outcome) in (4, 5)


def row_count(outcome: Any) -> int | None:
    """Return the number of rows in an outcome's rewards; ``None`` for a single number."""
    try:
        return len(outcome[1])
    except TypeError:
        return None


def _ended(outcome: Any) -> Any:
    """Return which rows ended, as an array where the outcome has arrays and as a list where it has lists."""
    if len(outcome) == 4:
        return outcome[2]
    terminated, truncated = outcome[2:4]
    if isinstance(terminated, (list, tuple)):
        return [end or cut for end, cut in zip(terminated, truncated, strict=True)]
    return terminated | truncated


def _sum(values: Any) -> Any:
    return sum(values) if isinstance(values, (list, tuple)) else values.sum()


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
        episodes = int(_sum(_ended(outcome)))
        reset_rows = self._ended_before if self._next_step else 0
        self._ended_before = episodes
        return Tally(self._num_envs - reset_rows, reset_rows, episodes, None, float(_sum(outcome[1])))

    def step(self, actions: Any) -> Tally:
        """Step and count."""
        return self.observe(self._step(actions))

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._observation
