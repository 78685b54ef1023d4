"""Evaluates observation terms, scales and corrupts them, and lays them side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from envdyno.suite.arrays import FloatArray, RowArray
from envdyno.suite.manager.configuration import ObservationGroup, ObservationTerm

if TYPE_CHECKING:
    from envdyno.suite.manager.environment import ManagerEnvironment


class ObservationManager:
    """One group of observations."""

    def __init__(self, group: ObservationGroup, environment: ManagerEnvironment) -> None:
        """Hold the terms."""
        self._group, self._environment = group, environment

    def compute(self, rows: RowArray | slice, size: int) -> FloatArray:
        """Return the group's observation of ``rows``, (rows, size).

        Noise is drawn as one block for the group, of which each term takes its columns.
        """
        values = [self._value(term, rows) for term in self._group.terms.values()]
        if self._group.corrupted:
            count = len(values[0])
            block = self._environment.streams["noise"].random((count, size), dtype=np.float32)
            values = self._corrupt(values, block)
        return np.concatenate(values, axis=1)

    def _value(self, term: ObservationTerm, rows: RowArray | slice) -> FloatArray:
        value: FloatArray = term.function(self._environment, rows, **term.parameters)
        return value if term.scale is None else value * np.float32(term.scale)

    def _corrupt(self, values: list[FloatArray], block: FloatArray) -> list[FloatArray]:
        corrupted, start = [], 0
        for term, value in zip(self._group.terms.values(), values, strict=True):
            stop = start + value.shape[1]
            if term.noise is not None:
                width = np.float32(2.0 * term.noise * (1.0 if term.scale is None else term.scale))
                value = value + (block[:, start:stop] - np.float32(0.5)) * width
            corrupted.append(value)
            start = stop
        return corrupted
