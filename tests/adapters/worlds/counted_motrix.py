"""MotrixLab environments that count inside themselves: the Go2 of the example, with more ends at random."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "motrixlab"))

from go2_direct import Go2Direct, Go2DirectCfg
from motrix_env_core import registry
from motrix_env_core.config import configclass
from motrix_env_core.direct.env import ArrayEnvState

NAME = "counted-go2"
LIMIT_STEPS = 20


@registry.envcfg(NAME)
@configclass
class CountedCfg(Go2DirectCfg):
    """Short episodes."""

    max_episode_seconds: float = LIMIT_STEPS * 0.02 + 1e-6
    end_rate: float = 0.05


@registry.env(NAME)
class CountedGo2(Go2Direct):
    """Counts what it does, row by row."""

    def __init__(self, cfg: CountedCfg, num_envs: int = 1, backend: str | None = None) -> None:
        super().__init__(cfg, num_envs, backend)
        self.ages = np.zeros(num_envs, int)
        self.transitions = self.ended = self.ended_steps = self.at_limit = self.both = 0

    def compute_transition(self, state: ArrayEnvState) -> ArrayEnvState:
        state = super().compute_transition(state)
        self.transitions += self.num_envs
        self.ages += 1
        state.terminated |= np.random.random(self.num_envs) < self.cfg.end_rate
        self.both += int((state.terminated & (self.ages == LIMIT_STEPS)).sum())
        return state

    def reset(self, env_ids: np.ndarray) -> None:
        begun = self.ages[env_ids] > 0
        self.ended += int(begun.sum())
        self.ended_steps += int(self.ages[env_ids].sum())
        self.at_limit += int((self.ages[env_ids] == LIMIT_STEPS).sum())
        self.ages[env_ids] = 0
        super().reset(env_ids)
