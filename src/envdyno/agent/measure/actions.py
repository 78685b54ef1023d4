"""The action ring: a few batches of actions, prepared before anything is timed."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from envdyno.agent.workloads.contract import ArraySpec

RING_BATCHES = 16
"""Few enough to be ready at once and to stay in the cache; enough that no batch repeats at once."""
UNBOUNDED_LIMIT = 1.0
"""Random actions lie in [-1, 1] where the action space has no bounds."""


class ActionSource(str, Enum):
    """Where actions come from."""

    RANDOM = "random"
    """Uniform between the bounds, seeded."""
    ZERO = "zero"
    FIXED = "fixed"
    """One random batch, repeated."""


def action_ring(
    spec: ArraySpec | None,
    num_envs: int,
    source: ActionSource,
    seed: int,
    make_actions: Callable[..., Sequence[Any]] | None = None,
) -> list[Any]:
    """Return the batches of actions that a workload is stepped with, in turn.

    Args:
        spec: shape, dtype and bounds of one environment's action; ``None`` for workloads that take none.
        num_envs: leading axis of each batch.
        source: random, zero or fixed.
        seed: equal seeds give equal rings.
        make_actions: the workload's own maker, called with ``source`` (its value), ``seed`` and
            ``batches``; used for action spaces that are no plain array.
    """
    batches = RING_BATCHES if source is ActionSource.RANDOM else 1
    if make_actions is not None:
        return list(make_actions(source=source.value, seed=seed, batches=batches))
    if spec is None:
        return [None]
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        return [_plain_batch(spec, num_envs, source, seed + index) for index in range(batches)]
    return [_array_batch(numpy, spec, num_envs, source, [seed, index]) for index in range(batches)]


def _array_batch(
    numpy: Any, spec: ArraySpec, num_envs: int, source: ActionSource, seed: Sequence[int]
) -> Any:
    shape = (num_envs, *spec.shape)
    dtype = numpy.dtype(spec.dtype)
    if source is ActionSource.ZERO:
        return numpy.zeros(shape, dtype)
    generator = numpy.random.default_rng(seed)
    if dtype.kind in "iub":
        low = 0 if spec.low is None else numpy.asarray(spec.low)
        high = 1 if spec.high is None else numpy.asarray(spec.high)
        return generator.integers(low, high, shape, endpoint=True).astype(dtype)
    low = numpy.nan_to_num(
        numpy.asarray(-UNBOUNDED_LIMIT if spec.low is None else spec.low, dtype="float64"),
        neginf=-UNBOUNDED_LIMIT,
    )
    high = numpy.nan_to_num(
        numpy.asarray(UNBOUNDED_LIMIT if spec.high is None else spec.high, dtype="float64"),
        posinf=UNBOUNDED_LIMIT,
    )
    return numpy.ascontiguousarray(generator.uniform(low, high, shape).astype(dtype))


def _plain_batch(spec: ArraySpec, num_envs: int, source: ActionSource, seed: int) -> Any:
    """Return nested lists where the side has no NumPy; bounds other than single numbers are not used."""
    low = float(spec.low) if isinstance(spec.low, (int, float)) else -UNBOUNDED_LIMIT
    high = float(spec.high) if isinstance(spec.high, (int, float)) else UNBOUNDED_LIMIT
    draw = random.Random(seed)

    def fill(shape: tuple[int, ...]) -> Any:
        if not shape:
            return 0.0 if source is ActionSource.ZERO else draw.uniform(low, high)
        return [fill(shape[1:]) for _ in range(shape[0])]

    return fill((num_envs, *spec.shape))
