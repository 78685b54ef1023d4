"""The step that every task shares, in both runtimes: act, simulate, evaluate, reset.

The order is that of Isaac Lab's environments, with the observation of the ended episode kept besides:

1. ``apply_action``: clip the action, turn it into joint targets, disturb the robot;
2. ``physics``: advance the engine by all substeps;
3. ``update_state``: episode time, terminations, rewards, commands, observations;
4. ``reset_done``: rows whose episode ended start a new one, and get its first observation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import (
    ArraySpec,
    Autoreset,
    ContactSample,
    Tally,
    WorkloadSpec,
    WorkTotals,
)
from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.engines.contract import Engine, Readout
from envdyno.suite.robots.robot import Robot
from envdyno.suite.streams import Streams


@dataclass(frozen=True)
class TaskSize:
    """What a task asks of its engine and what it hands out: all that both runtimes have to agree on."""

    name: str
    robot: Robot
    policy_size: int
    critic_size: int
    substeps: int
    step_s: float
    """Simulated seconds of one control step."""
    episode_limit_steps: int
    readout: Readout

    @property
    def substep_s(self) -> float:
        """Simulated seconds of one physics step."""
        return self.step_s / self.substeps


class SuiteEnvironment(ABC):
    """Buffers, counting and the order of a step; see :class:`envdyno.suite.contract.TaskEnvironment`."""

    runtime: str
    action_application = "step"

    def __init__(self, size: TaskSize, engine: Engine, num_envs: int, streams: Streams) -> None:
        """Allocate what every task hands out, and stagger the episodes."""
        self.size, self.engine, self.num_envs, self.streams = size, engine, num_envs, streams
        self.num_joints = size.robot.num_joints
        self._observations = tuple(
            (
                np.zeros((num_envs, size.policy_size), np.float32),
                np.zeros((num_envs, size.critic_size), np.float32),
            )
            for _ in range(2)
        )
        self._current = 0
        self.terminal_policy_observation = np.zeros((num_envs, size.policy_size), np.float32)
        self.terminal_critic_observation = np.zeros((num_envs, size.critic_size), np.float32)
        self.reward = np.zeros(num_envs, np.float32)
        self.terminated = np.zeros(num_envs, bool)
        self.truncated = np.zeros(num_envs, bool)
        self._done = np.zeros(num_envs, bool)
        self.done_rows: RowArray = np.zeros(0, np.intp)
        self.episode_steps = np.zeros(num_envs, np.int32)
        self._ended_steps = 0
        self._env_step, self._apply_action = phase("env_step"), phase("apply_action")
        self._physics, self._update_state = phase("physics"), phase("update_state")
        self._reset_done = phase("reset_done")

    @property
    def policy_observation(self) -> FloatArray:
        """Latest observation for the policy."""
        return self._observations[self._current][0]

    @property
    def critic_observation(self) -> FloatArray:
        """Latest observation for the critic."""
        return self._observations[self._current][1]

    def start(self) -> None:
        """Reset every row and spread the episodes over their length.

        A collector in steady state resets a few rows at nearly every step. Episodes that all began at once
        would instead time out together, and a short window would see either no reset or nothing else.
        """
        self.reset_rows(np.arange(self.num_envs))
        self.episode_steps[:] = self.streams["episode_phase"].integers(
            0, self.size.episode_limit_steps, self.num_envs
        )
        self.observe(*self._observations[self._current])

    def step(self, actions: FloatArray) -> Tally:
        """Advance every environment by one control step, and reset those whose episode ends."""
        with self._env_step:
            with self._apply_action:
                self.apply_action(actions)
            with self._physics:
                self.simulate()
            with self._update_state:
                self._update()
            if self.done_rows.size:
                with self._reset_done:
                    self._restart(self.done_rows)
        diverged = self.engine.diverged
        return Tally(
            self.num_envs,
            0,
            self.done_rows.size,
            int(np.count_nonzero(diverged)),
            float(self.reward.sum(dtype=np.float64)),
        )

    def _update(self) -> None:
        self.episode_steps += 1
        self.refresh()
        self.terminate(self.terminated, self.truncated)
        self.terminated |= self.engine.diverged
        np.greater(self.truncated, self.terminated, out=self.truncated)  # truncated and not terminated
        np.logical_or(self.terminated, self.truncated, out=self._done)
        self.done_rows = np.flatnonzero(self._done)
        self.evaluate(self.reward)
        self.advance_commands()
        self._current ^= 1
        self.observe(*self._observations[self._current])

    def _restart(self, rows: RowArray) -> None:
        policy, critic = self._observations[self._current]
        self.terminal_policy_observation[rows] = policy[rows]
        self.terminal_critic_observation[rows] = critic[rows]
        self._ended_steps += int(self.episode_steps[rows].sum())
        self.episode_steps[rows] = 0
        self.reset_rows(rows)
        self.observe_rows(rows, policy, critic)

    @abstractmethod
    def apply_action(self, actions: FloatArray) -> None:
        """Clip and keep the actions, compute joint targets, apply pushes that are due."""

    @abstractmethod
    def simulate(self) -> None:
        """Advance the engine by one control step."""

    @abstractmethod
    def refresh(self) -> None:
        """Compute what rewards, terminations and observations share."""

    @abstractmethod
    def terminate(self, terminated: BoolArray, truncated: BoolArray) -> None:
        """Write which rows are in a terminal state, and which have run out of time."""

    def out_of_time(self, out: BoolArray) -> None:
        """Write which episodes have reached the limit."""
        np.greater_equal(self.episode_steps, self.size.episode_limit_steps, out=out)

    @abstractmethod
    def evaluate(self, out: FloatArray) -> None:
        """Write the reward of every row."""

    @abstractmethod
    def advance_commands(self) -> None:
        """Move commands on by one control step, drawing new ones where they are due."""

    @abstractmethod
    def observe(self, policy: FloatArray, critic: FloatArray) -> None:
        """Write the observations of every row."""

    @abstractmethod
    def observe_rows(self, rows: RowArray, policy: FloatArray, critic: FloatArray) -> None:
        """Write the first observations of rows that were just reset, into those rows."""

    @abstractmethod
    def reset_rows(self, rows: RowArray) -> None:
        """Begin a new episode in ``rows``: state, commands, memory."""

    def observation(self) -> dict[str, FloatArray]:
        """Return the latest observations by group."""
        return {"policy": self.policy_observation, "critic": self.critic_observation}

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(
            episode_steps=self._ended_steps,
            substeps=self.engine.substeps_done,
            dispatches=self.engine.dispatches,
        )

    def contacts_now(self) -> ContactSample:
        """Return the contacts in the engine's latest states."""
        return self.engine.contacts_now()

    def close(self) -> None:
        """Release the engine."""
        self.engine.close()

    @property
    def spec(self) -> WorkloadSpec:
        """What was built."""
        size = self.size
        return WorkloadSpec(
            num_envs=self.num_envs,
            action=ArraySpec((self.num_joints,), "float32", -1.0, 1.0),
            observation={
                "policy": ArraySpec((size.policy_size,)),
                "critic": ArraySpec((size.critic_size,)),
            },
            autoreset=Autoreset.SAME_STEP,
            substeps=size.substeps,
            step_dt_s=size.step_s,
            episode_limit_steps=size.episode_limit_steps,
            threads=self.engine.threads,
            details={
                "task": size.name,
                "robot": size.robot.name,
                "engine": self.engine.name,
                "runtime": self.runtime,
                "action_application": self.action_application,
                **self.engine.settings,
            },
            modules_under_test=("envdyno", self.engine.package),
        )
