"""Sums weighted reward terms, and keeps each term's sum over the episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from envdyno.suite.arrays import FloatArray, RowArray
from envdyno.suite.manager.configuration import RewardTerm

if TYPE_CHECKING:
    from envdyno.suite.manager.environment import ManagerEnvironment


class RewardManager:
    """The reward of a step is the sum of ``weight * term * step_s``."""

    def __init__(self, terms: Mapping[str, RewardTerm], environment: ManagerEnvironment) -> None:
        """Start all episodes at zero."""
        self._terms, self._environment = terms, environment
        self.episode_sums = {name: np.zeros(environment.num_envs, np.float32) for name in terms}

    def compute(self) -> FloatArray:
        """Return (num_envs,)."""
        environment, step_s = self._environment, np.float32(self._environment.size.step_s)
        total = np.zeros(environment.num_envs, np.float32)
        for name, term in self._terms.items():
            value = term.function(environment, **term.parameters) * np.float32(term.weight) * step_s
            total += value
            self.episode_sums[name] += value
        return total

    def reset(self, rows: RowArray) -> dict[str, float]:
        """Begin anew in ``rows``; return the mean of each term's sum over their episodes."""
        means = {}
        for name, sums in self.episode_sums.items():
            means[f"episode_reward/{name}"] = float(sums[rows].mean())
            sums[rows] = 0.0
        return means
