"""Lets events happen: at resets, and at random intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from envdyno.suite.arrays import RowArray
from envdyno.suite.manager.configuration import EventMode, EventTerm

if TYPE_CHECKING:
    from envdyno.suite.manager.environment import ManagerEnvironment


class EventManager:
    """Keeps a clock for each interval event and row."""

    def __init__(self, terms: Mapping[str, EventTerm], environment: ManagerEnvironment) -> None:
        """Sort the terms by mode."""
        self._environment = environment
        self._reset = [term for term in terms.values() if term.mode is EventMode.RESET]
        self._interval = [term for term in terms.values() if term.mode is EventMode.INTERVAL]
        self._steps_left = [np.zeros(environment.num_envs, np.int32) for _ in self._interval]

    def apply_intervals(self) -> None:
        """Let a control step pass, and apply the events that are due."""
        for term, steps_left in zip(self._interval, self._steps_left, strict=True):
            steps_left -= 1
            due = np.flatnonzero(steps_left <= 0)
            if due.size:
                term.function(self._environment, due, **term.parameters)
                steps_left[due] = self._draw_interval(term, due.size)

    def apply_resets(self, rows: RowArray) -> None:
        """Apply the reset events to ``rows``, and start their clocks."""
        for term in self._reset:
            term.function(self._environment, rows, **term.parameters)
        for term, steps_left in zip(self._interval, self._steps_left, strict=True):
            steps_left[rows] = self._draw_interval(term, len(rows))

    def _draw_interval(self, term: EventTerm, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
        low, high = term.interval_steps
        return self._environment.streams[term.stream].integers(low, high, count, dtype=np.int32)
