"""Replay buffers that a collector writes: rings of vector steps, allocated and touched at the build.

Two layouts are in use, and they differ in what a step costs and in what it needs:

* **paired**, as in FastSAC and most SAC code: every transition stores its observation and its next
  observation, so every observation is written twice;
* **single**, as in FlashSAC's memory-efficient buffer: an observation is stored once, the next observation of
  a step is the observation of the step after it, and the last observations of episodes that ended are kept
  aside. The newest step is not readable until the next one is written.

Either way the next observation of a row whose episode ended is the **last of that episode**, not the first
of the one that began in its place; whether to bootstrap from it is told by ``terminated`` and ``truncated``,
which are stored apart.

Arrays are (steps, num_envs, ...), so that a vector step is one contiguous block, and are written to once
when they are made: a window sees no first touches, and the pages lie on the worker's own memory nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import NamedTuple

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.contract import TaskEnvironment


class ReplayLayout(str, Enum):
    """How often an observation is stored."""

    PAIRED = "paired"
    SINGLE = "single"


class ReplaySize(NamedTuple):
    """What fixes the memory of a buffer."""

    steps: int
    num_envs: int
    policy: int
    """Length of one policy observation."""
    critic: int
    action: int

    def bytes_needed(self, layout: ReplayLayout) -> int:
        """Bytes of the arrays; the single layout adds two observations for each episode end that it holds."""
        copies = 2 if layout is ReplayLayout.PAIRED else 1
        numbers = copies * (self.policy + self.critic) + self.action + 1
        return self.steps * self.num_envs * (numbers * np.dtype(np.float32).itemsize + 2)


class Transitions(NamedTuple):
    """One vector step, as it is read back."""

    observation: FloatArray
    critic_observation: FloatArray
    action: FloatArray
    reward: FloatArray
    next_observation: FloatArray
    next_critic_observation: FloatArray
    terminated: BoolArray
    truncated: BoolArray


class Replay(ABC):
    """What both layouts share. Older steps are overwritten when the ring is full."""

    layout: ReplayLayout
    newest_readable_age: int
    """Age of the newest step that can be read: 0 is the one written last."""

    def __init__(self, size: ReplaySize) -> None:
        """Allocate for ``size``; nothing is allocated later but the ends of episodes."""
        self.size = size
        self.written = 0
        """Steps written since the build."""
        self._observation = self._touched(size.policy)
        self._critic = self._touched(size.critic)
        self._action = self._touched(size.action)
        self._reward = self._touched()
        self._terminated = np.ones((size.steps, size.num_envs), bool)
        self._truncated = np.ones((size.steps, size.num_envs), bool)

    def _touched(self, *width: int) -> FloatArray:
        made = np.empty((self.size.steps, self.size.num_envs, *width), np.float32)
        made.fill(0.0)
        return made

    def add(
        self, observation: FloatArray, critic: FloatArray, action: FloatArray, environment: TaskEnvironment
    ) -> None:
        """Write one vector step.

        Args:
            observation: (num_envs, policy), what the action was chosen from.
            critic: (num_envs, critic), at the same instant.
            action: (num_envs, action).
            environment: just stepped with ``action``; its reward, flags and observations are read.
        """
        slot = self.written % self.size.steps
        self._observation[slot] = observation
        self._critic[slot] = critic
        self._action[slot] = action
        self._reward[slot] = environment.reward
        self._terminated[slot] = environment.terminated
        self._truncated[slot] = environment.truncated
        self._write_next(slot, environment)
        self.written += 1

    @property
    def readable_steps(self) -> int:
        """Vector steps that can be read back."""
        return max(0, min(self.written, self.size.steps) - self.newest_readable_age)

    def read(self, age: int) -> Transitions:
        """Return one vector step, ``age`` steps before the one written last. Arrays may be views.

        Raises:
            IndexError: the step is not written yet, overwritten, or not readable yet.
        """
        oldest = min(self.written, self.size.steps) - 1
        if not self.newest_readable_age <= age <= oldest:
            raise IndexError(
                f"The replay buffer holds the steps of age {self.newest_readable_age} to {oldest}, "
                f"and was asked for age {age}."
            )
        slot = (self.written - 1 - age) % self.size.steps
        next_observation, next_critic = self._read_next(slot)
        return Transitions(
            self._observation[slot],
            self._critic[slot],
            self._action[slot],
            self._reward[slot],
            next_observation,
            next_critic,
            self._terminated[slot],
            self._truncated[slot],
        )

    @abstractmethod
    def _write_next(self, slot: int, environment: TaskEnvironment) -> None: ...

    @abstractmethod
    def _read_next(self, slot: int) -> tuple[FloatArray, FloatArray]: ...


class PairedReplay(Replay):
    """Observation and next observation side by side."""

    layout = ReplayLayout.PAIRED
    newest_readable_age = 0

    def __init__(self, size: ReplaySize) -> None:
        """Allocate for ``size``."""
        super().__init__(size)
        self._next_observation = self._touched(size.policy)
        self._next_critic = self._touched(size.critic)

    def _write_next(self, slot: int, environment: TaskEnvironment) -> None:
        observation, critic = self._next_observation[slot], self._next_critic[slot]
        observation[:] = environment.policy_observation
        critic[:] = environment.critic_observation
        if (rows := environment.done_rows).size:
            observation[rows] = environment.terminal_policy_observation[rows]
            critic[rows] = environment.terminal_critic_observation[rows]

    def _read_next(self, slot: int) -> tuple[FloatArray, FloatArray]:
        return self._next_observation[slot], self._next_critic[slot]


class _Ends(NamedTuple):
    """Last observations of the episodes that ended in one vector step."""

    rows: RowArray
    observation: FloatArray
    critic: FloatArray


class SingleReplay(Replay):
    """Every observation once, and the ends of episodes aside."""

    layout = ReplayLayout.SINGLE
    newest_readable_age = 1

    def __init__(self, size: ReplaySize) -> None:
        """Allocate for ``size``."""
        super().__init__(size)
        self._ends: list[_Ends | None] = [None] * size.steps

    def _write_next(self, slot: int, environment: TaskEnvironment) -> None:
        rows = environment.done_rows
        self._ends[slot] = (
            _Ends(
                rows.copy(),
                environment.terminal_policy_observation[rows],
                environment.terminal_critic_observation[rows],
            )
            if rows.size
            else None
        )

    def _read_next(self, slot: int) -> tuple[FloatArray, FloatArray]:
        after = (slot + 1) % self.size.steps
        if (ends := self._ends[slot]) is None:
            return self._observation[after], self._critic[after]
        observation, critic = self._observation[after].copy(), self._critic[after].copy()
        observation[ends.rows], critic[ends.rows] = ends.observation, ends.critic
        return observation, critic


def make_replay(layout: ReplayLayout, size: ReplaySize) -> Replay:
    """Allocate a buffer of a layout."""
    return PairedReplay(size) if layout is ReplayLayout.PAIRED else SingleReplay(size)
