"""Counting from rows: observations, rewards, terminated, truncated, information."""

from __future__ import annotations

import numbers
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
    """Return the sum: a number of Python's own where it is on the host, else a scalar of its device.

    Fetching a value from an accelerator would wait for it in every step. It is read after the window.
    """
    total = sum(values) if isinstance(values, (list, tuple)) else values.sum()
    if isinstance(total, numbers.Integral):
        return int(total)
    return float(total) if isinstance(total, numbers.Real) else total


class RowCounter:
    """Wraps a ``step`` that returns rows, and counts by the autoreset mode.

    With next-step autoreset, the rows that ended at the previous call only reset in this one (Gymnasium,
    "Vector environments: autoreset modes"); in every other mode each row of each call is a transition.
    Counts of arrays on an accelerator stay there.

    Args:
        step: returns the rows.
        num_envs: their number.
        autoreset: how rows begin a new episode.
        reset_ended: resets the rows that it is given and returns the observations, for autoreset disabled.
            Whether there are any has to be fetched from an accelerator in every step.
    """

    def __init__(
        self,
        step: Callable[[Any], Any],
        num_envs: int,
        autoreset: Autoreset,
        reset_ended: Callable[[Any], Any] | None = None,
    ) -> None:
        """Begin before the first outcome."""
        self._step = step
        self._num_envs = num_envs
        self._next_step = autoreset is Autoreset.NEXT_STEP
        self._reset_ended = reset_ended
        self._ended_before: Any = 0
        self._observation: Any = None

    def observe(self, outcome: Any) -> Tally:
        """Count one outcome, and remember it for the next."""
        self._observation = outcome[0]
        ended = _ended(outcome)
        episodes = _sum(ended)
        reset_rows = self._ended_before if self._next_step else 0
        self._ended_before = episodes
        tally = Tally(self._num_envs - reset_rows, reset_rows, episodes, None, _sum(outcome[1]))
        if self._reset_ended is not None and episodes:
            self._observation = self._reset_ended(ended)
        return tally

    def step(self, actions: Any) -> Tally:
        """Step and count."""
        return self.observe(self._step(actions))

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._observation
