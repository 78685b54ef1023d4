"""Kinds of noise for simulations: log speeds of runs that are equally fast but for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Order(Protocol):
    """In which order the runs of a design are made."""

    @property
    def time(self) -> npt.NDArray[np.int_]:
        """Place in time of every run, in the shape of the design."""
        ...


Draw = Callable[[np.random.Generator, int, Any], Floats]
"""From a generator, a number of simulations and an order: log speeds, shape (simulations, *design)."""


class Noise(NamedTuple):
    """A kind of noise."""

    name: str
    draw: Draw
    in_bars: bool = True


def gaussian(sigma: float) -> Draw:
    """Normal noise of every run."""
    return lambda rng, size, order: sigma * rng.standard_normal((size, *order.time.shape))


def heavy_tailed(rng: np.random.Generator, size: int, order: Order) -> Floats:
    """Student t with two degrees of freedom, scaled by 2 %: its variance is infinite."""
    return 0.02 * rng.standard_t(2, (size, *order.time.shape))


def spikes(rng: np.random.Generator, size: int, order: Order) -> Floats:
    """One run in ten loses an exponential amount of 20 % on average."""
    shape = (size, *order.time.shape)
    return gaussian(0.01)(rng, size, order) - (rng.random(shape) < 0.1) * rng.exponential(0.2, shape)


def batch_shift(loss: float) -> Draw:
    """From some run on, the machine is slower."""

    def draw(rng: np.random.Generator, size: int, order: Order) -> Floats:
        first_slow = rng.integers(1, order.time.size, (size, 1, 1))
        return gaussian(0.01)(rng, size, order) + math.log1p(-loss) * (order.time[None] >= first_slow)

    return draw


def linear_drift(rng: np.random.Generator, size: int, order: Order) -> Floats:
    """Every run is 1 % slower than the one before."""
    return gaussian(0.01)(rng, size, order) + math.log1p(-0.01) * order.time[None]


def bimodal(share: float, loss: float) -> Draw:
    """Some runs land in a slow mode."""

    def draw(rng: np.random.Generator, size: int, order: Order) -> Floats:
        slow = rng.random((size, *order.time.shape)) < share
        return gaussian(0.005)(rng, size, order) + math.log1p(-loss) * slow

    return draw


SHARED = (
    Noise("Gaussian 0.5 %", gaussian(0.005)),
    Noise("Gaussian 2 %", gaussian(0.02)),
    Noise("Gaussian 5 %", gaussian(0.05)),
    Noise("heavy tails", heavy_tailed),
    Noise("spikes", spikes),
    Noise("batch shift 5 %", batch_shift(0.05)),
    Noise("batch shift 30 %", batch_shift(0.30)),
    Noise("drift 1 % a run", linear_drift),
    Noise("bimodal 10 %", bimodal(0.3, 0.10)),
)
"""Kinds that every design has to bear."""
