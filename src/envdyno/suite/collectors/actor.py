"""What the actor networks of the collectors share. They choose actions only: no gradients, no training.

Sizes and parts are those of the public code. An actor is built untrained from a seed, as at the start of
training; the cost of a forward pass does not depend on the weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from envdyno.suite.arrays import FloatArray, RowArray
from envdyno.suite.collectors.torch_import import import_torch


class Actor(ABC):
    """Chooses a batch of actions from a batch of observations, on the CPU."""

    def __init__(self, observation: FloatArray, actions: int, seed: int, threads: int) -> None:
        """Prepare PyTorch; the networks are built by the subclasses.

        Args:
            observation: (num_envs, policy size), the first batch.
            actions: length of one action.
            seed: of weights and noise.
            threads: CPU threads for the network, in the whole process.

        Raises:
            TorchMissingError: PyTorch is not installed.
        """
        self._torch: Any = import_torch()
        self._functional: Any = self._torch.nn.functional
        self._torch.set_num_threads(threads)
        self._generator = self._torch.Generator().manual_seed(seed)
        self._rows, self._inputs = observation.shape
        self._actions = actions

    def act(self, observation: FloatArray, done_rows: RowArray) -> FloatArray:
        """Return (num_envs, actions), in (-1, 1).

        Args:
            observation: (num_envs, policy size).
            done_rows: rows whose episode ended in the step before.
        """
        torch = self._torch
        with torch.inference_mode():
            raw_mean, raw_deviation = self._heads(torch.from_numpy(observation))
            noise = self._noise(torch.from_numpy(done_rows))
            chosen: FloatArray = torch.tanh(raw_mean + raw_deviation * noise).numpy()
        return chosen

    @abstractmethod
    def _heads(self, observation: Any) -> tuple[Any, Any]:
        """Mean and deviation of every action, before the squashing."""

    @abstractmethod
    def _noise(self, done_rows: Any) -> Any:
        """Unit noise of this step, (num_envs, actions)."""

    def _normal(self, *shape: int) -> Any:
        return self._torch.randn(*shape, generator=self._generator)

    def _bounded_exp(self, raw: Any, low: float, high: float) -> Any:
        """A deviation whose logarithm lies between ``low`` and ``high``, however large ``raw`` is."""
        torch = self._torch
        return torch.exp(low + 0.5 * (high - low) * (torch.tanh(raw) + 1.0))
