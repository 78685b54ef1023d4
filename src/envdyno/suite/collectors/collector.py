"""The collector's loop as a workload: one vector step chooses actions, steps, stores, and keeps the books.

Phases: ``action_select`` (with a network only), ``env_step`` (entered by the environment, with its own phases
inside), ``replay``, ``bookkeeping``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import ContactSample, Tally, WorkloadSpec, WorkTotals
from envdyno.suite.arrays import FloatArray
from envdyno.suite.collectors.actor import Actor
from envdyno.suite.collectors.bookkeeping import EpisodeBooks, ReturnScale
from envdyno.suite.collectors.flashsac_actor import FlashSacActor
from envdyno.suite.collectors.memory_need import available_bytes, refuse_if_too_large
from envdyno.suite.collectors.replay import ReplayLayout, ReplaySize, make_replay
from envdyno.suite.collectors.sac_actor import SacActor
from envdyno.suite.contract import TaskEnvironment


class Policy(str, Enum):
    """Where a collector's actions come from."""

    NONE = "none"
    """From the ring of prepared batches: no action selection is measured."""
    TORCH = "torch"
    """From the algorithm's actor network, on the CPU."""


class Algorithm(NamedTuple):
    """What the collectors of two algorithms do differently."""

    name: str
    actor: type[Actor]
    layout: ReplayLayout
    discount: float
    largest_scaled_return: float | None
    """Set where rewards are scaled by running statistics of the return; the collector keeps them."""


SAC = Algorithm("sac", SacActor, ReplayLayout.PAIRED, 0.97, None)
FLASHSAC = Algorithm("flashsac", FlashSacActor, ReplayLayout.SINGLE, 0.97, 5.0)


class Collector:
    """Steps an environment with actions that are given, and stores what happens."""

    policy = Policy.NONE

    def __init__(self, algorithm: Algorithm, environment: TaskEnvironment, replay_steps: int) -> None:
        """Allocate the replay buffer and the books.

        Args:
            algorithm: which collector.
            environment: built and started.
            replay_steps: vector steps that the replay buffer holds.

        Raises:
            ReplayTooLargeError: the buffer needs more memory than there is.
        """
        self.algorithm, self.environment = algorithm, environment
        size = _replay_size(environment, replay_steps)
        refuse_if_too_large(algorithm.layout, size, available_bytes())
        self.replay = make_replay(algorithm.layout, size)
        self.books = EpisodeBooks(size.num_envs)
        self.return_scale: ReturnScale | None = None
        if algorithm.largest_scaled_return is not None:
            self.return_scale = ReturnScale(
                size.num_envs, algorithm.discount, algorithm.largest_scaled_return
            )
        self._action_select, self._replay = phase("action_select"), phase("replay")
        self._bookkeeping = phase("bookkeeping")

    def step(self, actions: FloatArray) -> Tally:
        """Take one vector step with ``actions`` (num_envs, action)."""
        environment = self.environment
        observation, critic = environment.policy_observation, environment.critic_observation
        tally = environment.step(actions)
        with self._replay:
            self.replay.add(observation, critic, actions, environment)
        with self._bookkeeping:
            self.books.add(environment.reward, environment.done_rows, environment.truncated)
            if self.return_scale is not None:
                self.return_scale.add(environment.reward, environment.done_rows)
        return tally

    def observation(self) -> dict[str, FloatArray]:
        """Return the environment's latest observations."""
        return self.environment.observation()

    def work(self) -> WorkTotals:
        """Return the environment's running totals."""
        return self.environment.work()

    def contacts_now(self) -> ContactSample:
        """Return the contacts in the environment's latest states."""
        return self.environment.contacts_now()

    def close(self) -> None:
        """Release the environment."""
        self.environment.close()

    @property
    def spec(self) -> WorkloadSpec:
        """The environment's, and what the collector adds to the work."""
        inner = self.environment.spec
        details = {
            **inner.details,
            "collector": self.algorithm.name,
            "policy": self.policy.value,
            "replay_layout": self.algorithm.layout.value,
            "replay_steps": self.replay.size.steps,
        }
        return dataclasses.replace(inner, details=details)


class ActingCollector(Collector):
    """Chooses the actions itself, by the algorithm's actor network."""

    policy = Policy.TORCH

    def __init__(
        self, algorithm: Algorithm, environment: TaskEnvironment, replay_steps: int, seed: int, threads: int
    ) -> None:
        """Allocate, and build the actor.

        Args:
            algorithm: which collector.
            environment: built and started.
            replay_steps: vector steps that the replay buffer holds.
            seed: of the actor's weights and noise.
            threads: CPU threads for the network.

        Raises:
            TorchMissingError: PyTorch is not installed.
            ReplayTooLargeError: the buffer needs more memory than there is.
        """
        super().__init__(algorithm, environment, replay_steps)
        self._threads = threads
        self._actor = algorithm.actor(environment.policy_observation, self.replay.size.action, seed, threads)

    def make_actions(self, source: str, seed: int, batches: int) -> Sequence[None]:
        """Return a ring without actions, for they are chosen in the step."""
        del source, seed, batches
        return [None]

    def step(self, actions: FloatArray | None = None) -> Tally:
        """Choose actions and take one vector step with them; ``actions`` is not used."""
        del actions
        environment = self.environment
        with self._action_select:
            chosen = self._actor.act(environment.policy_observation, environment.done_rows)
        return super().step(chosen)

    @property
    def spec(self) -> WorkloadSpec:
        """The collector's, and the threads of the network."""
        inner = super().spec
        return dataclasses.replace(inner, details={**inner.details, "policy_threads": self._threads})


def _replay_size(environment: TaskEnvironment, steps: int) -> ReplaySize:
    spec = environment.spec
    assert spec.action is not None
    (actions,) = spec.action.shape
    policy, critic = environment.policy_observation, environment.critic_observation
    return ReplaySize(steps, spec.num_envs, policy.shape[1], critic.shape[1], actions)
