"""A Gymnasium environment that writes down, outside of everything, how often it was really stepped.

Episodes end by termination, by truncation, and by both at once, at times that depend on the seed alone.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import register


class CountedEnv(gymnasium.Env):  # type: ignore[misc]
    """Counts its steps and resets in a file of its own, so that separate processes can be counted too."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own form

    def __init__(self, folder: str, end_rate: float = 0.15, space: str = "box") -> None:
        self.observation_space = gymnasium.spaces.Box(-1e6, 1e6, (3,), np.float32)
        self.action_space = SPACES[space]()
        self._file = os.open(Path(folder) / uuid.uuid4().hex, os.O_CREAT | os.O_RDWR)
        self._end_rate = end_rate
        self.counts = np.zeros(4, np.int64)
        self._age = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._age = 0
        self.counts[1] += 1
        self._write()
        return np.zeros(3, np.float32), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), action
        self._age += 1
        terminated, truncated = (bool(end) for end in self.np_random.random(2) < self._end_rate)
        self.counts[0] += 1
        if terminated or truncated:
            self.counts[2] += 1
            self.counts[3] += self._age
        self._write()
        return np.full(3, self._age, np.float32), 1.0, terminated, truncated, {}

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _write(self) -> None:
        os.pwrite(self._file, self.counts.tobytes(), 0)


SPACES = {
    "box": lambda: gymnasium.spaces.Box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), dtype=np.float64),
    "discrete": lambda: gymnasium.spaces.Discrete(3, start=-1),
    "discrete0": lambda: gymnasium.spaces.Discrete(3),
    "multi": lambda: gymnasium.spaces.MultiDiscrete([2, 5]),
    "binary": lambda: gymnasium.spaces.MultiBinary(4),
    "nested": lambda: gymnasium.spaces.Dict(
        {"arm": SPACES["box"](), "pair": gymnasium.spaces.Tuple((SPACES["discrete"](), SPACES["box"]()))}
    ),
    "text": lambda: gymnasium.spaces.Text(5),
}


def counted(folder: Path) -> tuple[int, int, int, int]:
    """Return steps, resets, episodes ended and steps in them, over all environments of a folder."""
    sums = np.zeros(4, np.int64)
    for file in folder.iterdir():
        data = file.read_bytes()
        if data:
            sums += np.frombuffer(data, np.int64)
    steps, resets, episodes, episode_steps = map(int, sums)
    return steps, resets, episodes, episode_steps


def make(num_envs: int, seed: int, folder: str, mode: str = "SAME_STEP") -> Any:
    """A factory as a user would write it."""
    kwargs = {"autoreset_mode": gymnasium.vector.AutoresetMode[mode]}
    return gymnasium.vector.SyncVectorEnv([lambda: CountedEnv(folder)] * num_envs, **kwargs)


def make_seedless(num_envs: int, folder: str) -> Any:
    """A factory as most are: the seed is the reset's."""
    return make(num_envs, 0, folder)


def make_processes(num_envs: int, folder: str) -> Any:
    """A factory whose environments are processes."""
    return gymnasium.vector.AsyncVectorEnv([lambda: CountedEnv(folder)] * num_envs)


class Clockwork(gymnasium.vector.VectorEnv):  # type: ignore[misc]
    """A vector of the user's own: every episode is three steps long, and it counts inside itself."""

    def __init__(self, num_envs: int, tag: Any = None) -> None:
        self.metadata = {} if tag is None else {"autoreset_mode": tag}
        self.num_envs = num_envs
        self.single_action_space = gymnasium.spaces.Discrete(2)
        self.single_observation_space = gymnasium.spaces.Box(0, 3, (1,), np.float64)
        self.moved = 0
        self._ages = np.zeros(num_envs)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self._ages = np.zeros(self.num_envs)
        return self._ages[:, None].copy(), {}

    def step(self, actions: Any) -> Any:
        resetting = self._ages >= 3
        self.moved += int((~resetting).sum())
        self._ages = np.where(resetting, 0, self._ages + 1)
        never = np.zeros(self.num_envs, bool)
        return self._ages[:, None].copy(), np.ones(self.num_envs), self._ages >= 3, never, {}

    def count_inside(self) -> int:
        return self.moved


def make_clockwork(num_envs: int, seed: int, tag: Any = None) -> Any:
    """A factory of the vector above."""
    return Clockwork(num_envs, tag)


register("Counted-v0", entry_point=CountedEnv, max_episode_steps=40)
