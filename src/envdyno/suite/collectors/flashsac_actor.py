"""FlashSAC's actor.

Batch norm on the input with its running statistics; a linear layer of 128 units; two residual blocks that
widen to 512 and come back, each half with batch norm and ReLU; root-mean-square norm; heads for mean and log
deviation. The rows of all linear layers have unit length. The noise of a row is held for a number of steps
drawn from a zeta law (exponent 2, at most 16), and drawn anew when its episode ends.
"""

from __future__ import annotations

from typing import Any

from envdyno.suite.arrays import FloatArray
from envdyno.suite.collectors.actor import Actor

WIDTH = 128
BLOCKS = 2
EXPANSION = 4
LOG_DEVIATION = (-10.0, 2.0)
ZETA_EXPONENT = 2.0
LONGEST_HOLD = 16
RMS_EPSILON = 1e-6


class FlashSacActor(Actor):
    """See the module."""

    def __init__(self, observation: FloatArray, actions: int, seed: int, threads: int) -> None:
        """Draw the weights; running statistics start at mean 0 and variance 1."""
        super().__init__(observation, actions, seed, threads)
        torch = self._torch
        self._input_norm = self._batch_norm(self._inputs)
        self._embed = self._unit_linear(self._inputs, WIDTH)
        self._blocks = [self._block() for _ in range(BLOCKS)]
        self._gain = torch.ones(WIDTH)
        self._head_mean, self._head_deviation = (
            (self._unit_linear(WIDTH, actions), torch.zeros(actions)) for _ in range(2)
        )
        law = torch.arange(1, LONGEST_HOLD + 1, dtype=torch.float32).pow(-ZETA_EXPONENT)
        self._hold_law = torch.cumsum(law / law.sum(), 0)
        self._held = torch.zeros(self._rows, actions)
        self._steps_left = torch.zeros(self._rows, dtype=torch.int64)

    def _unit_linear(self, inputs: int, outputs: int) -> Any:
        return self._functional.normalize(self._normal(outputs, inputs), dim=-1)

    def _batch_norm(self, width: int) -> tuple[Any, ...]:
        """Running mean and variance, gain and shift."""
        torch = self._torch
        return torch.zeros(width), torch.ones(width), torch.ones(width), torch.zeros(width)

    def _block(self) -> tuple[tuple[Any, Any], ...]:
        wide = WIDTH * EXPANSION
        return (
            (self._unit_linear(WIDTH, wide), self._batch_norm(wide)),
            (self._unit_linear(wide, WIDTH), self._batch_norm(WIDTH)),
        )

    def _heads(self, observation: Any) -> tuple[Any, Any]:
        functional = self._functional
        x = functional.linear(functional.batch_norm(observation, *self._input_norm), self._embed)
        for block in self._blocks:
            y = x
            for weight, norm in block:
                y = functional.relu(functional.batch_norm(functional.linear(y, weight), *norm))
            x = x + y
        x = functional.rms_norm(x, self._gain.shape, self._gain, eps=RMS_EPSILON)
        mean = functional.linear(x, *self._head_mean)
        return mean, self._bounded_exp(functional.linear(x, *self._head_deviation), *LOG_DEVIATION)

    def _noise(self, done_rows: Any) -> Any:
        torch = self._torch
        self._steps_left[done_rows] = 0
        due = torch.nonzero(self._steps_left <= 0).flatten()
        if len(due):
            self._held[due] = self._normal(len(due), self._actions)
            drawn = torch.rand(len(due), generator=self._generator)
            self._steps_left[due] = torch.searchsorted(self._hold_law, drawn).clamp(max=LONGEST_HOLD - 1) + 1
        self._steps_left -= 1
        return self._held
