"""Evaluates termination terms and tells terminal states from time-outs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from envdyno.suite.arrays import BoolArray, RowArray
from envdyno.suite.manager.configuration import TerminationTerm

if TYPE_CHECKING:
    from envdyno.suite.manager.environment import ManagerEnvironment


class TerminationManager:
    """Keeps each term's flags of the latest step."""

    def __init__(self, terms: Mapping[str, TerminationTerm], environment: ManagerEnvironment) -> None:
        """Hold the terms."""
        self._terms, self._environment = terms, environment
        self.flags = {name: np.zeros(environment.num_envs, bool) for name in terms}

    def compute(self) -> tuple[BoolArray, BoolArray]:
        """Return ``terminated`` and ``truncated``, (num_envs,) each."""
        terminated = np.zeros(self._environment.num_envs, bool)
        truncated = np.zeros(self._environment.num_envs, bool)
        for name, term in self._terms.items():
            flags = term.function(self._environment, **term.parameters)
            self.flags[name] = flags
            if term.time_out:
                truncated |= flags
            else:
                terminated |= flags
        return terminated, truncated

    def reset(self, rows: RowArray) -> dict[str, float]:
        """Return how many of ``rows`` each term ended."""
        return {f"episode_termination/{name}": float(flags[rows].sum()) for name, flags in self.flags.items()}
