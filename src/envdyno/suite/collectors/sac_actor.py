"""SAC's actor, as in FastSAC (holosoma, UniLab).

Observations are normalised by a running mean and deviation, which a learner would send; here they are those
of the first batch. Then three layers of 512, 256 and 128 units, each with layer norm and SiLU, and heads for
mean and log deviation that start at zero. A tanh-squashed Gaussian with fresh noise in every step.
"""

from __future__ import annotations

import itertools
from typing import Any

from envdyno.suite.arrays import FloatArray
from envdyno.suite.collectors.actor import Actor

HIDDEN = (512, 256, 128)
LOG_DEVIATION = (-5.0, 0.0)
MEAN_LIMIT = 10.0
LEAST_DEVIATION = 1e-8
"""Of an observation that never changes."""


class SacActor(Actor):
    """See the module."""

    def __init__(self, observation: FloatArray, actions: int, seed: int, threads: int) -> None:
        """Draw the weights, and take the normaliser's statistics from ``observation``."""
        super().__init__(observation, actions, seed, threads)
        torch = self._torch
        first = torch.from_numpy(observation)
        self._mean = first.mean(0)
        self._deviation = first.std(0, correction=0) + LEAST_DEVIATION
        self._layers = [self._linear(*widths) for widths in itertools.pairwise((self._inputs, *HIDDEN))]
        self._norms = [(torch.ones(width), torch.zeros(width)) for width in HIDDEN]
        self._head_mean, self._head_deviation = (
            (torch.zeros(actions, HIDDEN[-1]), torch.zeros(actions)) for _ in range(2)
        )

    def _linear(self, inputs: int, outputs: int) -> tuple[Any, Any]:
        bound = inputs**-0.5  # PyTorch's own rule for a linear layer
        drawn = (self._torch.rand(outputs, width, generator=self._generator) for width in (inputs, 1))
        weight, bias = ((part * 2.0 - 1.0) * bound for part in drawn)
        return weight, bias.flatten()

    def _heads(self, observation: Any) -> tuple[Any, Any]:
        functional = self._functional
        x = (observation - self._mean) / self._deviation
        for (weight, bias), (gain, shift) in zip(self._layers, self._norms, strict=True):
            x = functional.linear(x, weight, bias)
            x = functional.silu(functional.layer_norm(x, gain.shape, gain, shift))
        mean = functional.linear(x, *self._head_mean).clamp(-MEAN_LIMIT, MEAN_LIMIT)
        return mean, self._bounded_exp(functional.linear(x, *self._head_deviation), *LOG_DEVIATION)

    def _noise(self, done_rows: Any) -> Any:
        del done_rows  # fresh in every step, whatever ended
        return self._normal(self._rows, self._actions)
