"""An environment whose episodes end as a script says, and whose every number is its own."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from envdyno.agent.workloads.contract import ArraySpec, Autoreset, Tally, WorkloadSpec, WorkTotals

POLICY, CRITIC, ACTION = 3, 5, 2


class End(Enum):
    """What a vector step does to a row."""

    NONE = "none"
    TERMINATED = "terminated"
    TRUNCATED = "truncated"


class ScriptedEnvironment:
    """Follows the contract of suite environments: alternating observation arrays, stale terminal rows."""

    def __init__(self, script: Sequence[Sequence[End]], seed: int = 0) -> None:
        self._script = list(script)
        self.num_envs = len(self._script[0])
        self._draw = np.random.default_rng(seed)
        n = self.num_envs
        self._observations = [
            (np.zeros((n, POLICY), np.float32), np.zeros((n, CRITIC), np.float32)) for _ in "ab"
        ]
        self._current = 0
        self._fill(*self._observations[0])
        self.terminal_policy_observation = np.full((n, POLICY), np.nan, np.float32)
        self.terminal_critic_observation = np.full((n, CRITIC), np.nan, np.float32)
        self.reward = np.zeros(n, np.float32)
        self.terminated = np.zeros(n, bool)
        self.truncated = np.zeros(n, bool)
        self.done_rows = np.zeros(0, np.intp)
        self.episode_steps = np.zeros(n, np.int32)
        self.received: list[np.ndarray] = []
        self.closed = False

    def _fill(self, *arrays: np.ndarray) -> None:
        for array in arrays:
            array[:] = self._draw.normal(size=array.shape)

    @property
    def policy_observation(self) -> np.ndarray:
        return self._observations[self._current][0]

    @property
    def critic_observation(self) -> np.ndarray:
        return self._observations[self._current][1]

    def step(self, actions: np.ndarray) -> Tally:
        ends = self._script.pop(0)
        self.received.append(actions.copy())
        self.terminated[:] = [end is End.TERMINATED for end in ends]
        self.truncated[:] = [end is End.TRUNCATED for end in ends]
        self.done_rows = np.flatnonzero(self.terminated | self.truncated)
        self._fill(self.reward)
        self._current ^= 1
        self._fill(*self._observations[self._current])
        rows = self.done_rows
        self.terminal_policy_observation[rows] = self.policy_observation[rows]
        self.terminal_critic_observation[rows] = self.critic_observation[rows]
        for array in (self.policy_observation, self.critic_observation):
            array[rows] = self._draw.normal(size=(len(rows), array.shape[1]))
        return Tally(self.num_envs, 0, len(rows))

    def observation(self) -> dict[str, np.ndarray]:
        return {"policy": self.policy_observation, "critic": self.critic_observation}

    def work(self) -> WorkTotals:
        return WorkTotals(substeps=len(self.received))

    def close(self) -> None:
        self.closed = True

    @property
    def spec(self) -> WorkloadSpec:
        return WorkloadSpec(
            self.num_envs,
            ArraySpec((ACTION,), "float32", -1.0, 1.0),
            {"policy": ArraySpec((POLICY,)), "critic": ArraySpec((CRITIC,))},
            Autoreset.SAME_STEP,
            details={"task": "scripted"},
        )
