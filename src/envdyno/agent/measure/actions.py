"""The action ring: a few batches of actions, prepared before anything is timed."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from envdyno.agent.workloads.contract import ArraySpec

RING_BATCHES = 16
"""Few enough to be ready at once and to stay in the cache; enough that no batch repeats at once."""
UNBOUNDED_LIMIT = 1.0
"""Random actions lie in [-1, 1] where the action space has no bounds."""
NO_BOUND = 2.0**53
"""Bounds from here on are none: many spaces write unbounded as the largest number of their dtype."""


class ActionSource(str, Enum):
    """Where actions come from."""

    RANDOM = "random"
    """Uniform between the bounds, seeded."""
    ZERO = "zero"
    """Zero, or what is nearest to it between the bounds."""
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

    Batches are NumPy arrays where the workload brought NumPy along, and nested lists where it did not:
    nothing is imported that the workload does not use.

    Args:
        spec: shape, dtype and bounds of one environment's action; ``None`` for workloads that take none.
        num_envs: leading axis of each batch.
        source: random, zero or fixed.
        seed: equal seeds give equal rings.
        make_actions: the workload's own maker, called with ``source`` (its value), ``seed`` and
            ``batches``; used for action spaces that are no plain array.

    Raises:
        ValueError: the workload's own maker made nothing.
    """
    batches = RING_BATCHES if source is ActionSource.RANDOM else 1
    if make_actions is not None:
        ring = list(make_actions(source=source.value, seed=seed, batches=batches))
        if not ring:
            raise ValueError(
                f"The workload's make_actions() returned none of the {batches} batches asked for."
            )
        return ring
    if spec is None:
        return [None]
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return [_plain_batch(spec, num_envs, source, seed + index) for index in range(batches)]
    return [_array_batch(numpy, spec, num_envs, source, [seed, index]) for index in range(batches)]


def _array_batch(
    numpy: Any, spec: ArraySpec, num_envs: int, source: ActionSource, seed: Sequence[int]
) -> Any:
    shape = (num_envs, *spec.shape)
    low, high = map(numpy.asarray, _bounds(spec))
    if source is ActionSource.ZERO:
        values = numpy.broadcast_to(numpy.clip(0, low, high), shape)
    elif _is_integer(spec):
        values = numpy.random.default_rng(seed).integers(low, high, shape, endpoint=True)
    else:
        values = numpy.random.default_rng(seed).uniform(low, high, shape)
    return numpy.ascontiguousarray(values.astype(spec.dtype))


def _plain_batch(spec: ArraySpec, num_envs: int, source: ActionSource, seed: int) -> Any:
    """Return nested lists, for workloads that brought no NumPy."""
    draw = random.Random(seed)
    pick = draw.randint if _is_integer(spec) else draw.uniform

    def fill(shape: tuple[int, ...], low: Any, high: Any) -> Any:
        if not shape:
            return min(max(type(low)(0), low), high) if source is ActionSource.ZERO else pick(low, high)
        lows, highs = _spread(low, shape[0]), _spread(high, shape[0])
        return [fill(shape[1:], *pair) for pair in zip(lows, highs, strict=True)]

    low, high = _bounds(spec)
    return [fill(spec.shape, low, high) for _ in range(num_envs)]


def _is_integer(spec: ArraySpec) -> bool:
    return spec.dtype.startswith(("int", "uint", "bool"))


def _spread(bound: Any, count: int) -> Sequence[Any]:
    """Return a bound for each of ``count`` entries."""
    return bound if isinstance(bound, (list, tuple)) else [bound] * count


def _bounds(spec: ArraySpec) -> tuple[Any, Any]:
    """Return finite bounds of one action: numbers, or nested lists of the row's shape."""
    given: tuple[Any, Any] = (spec.low, spec.high)
    low, high = (bound.tolist() if hasattr(bound, "tolist") else bound for bound in given)
    return _close(low, high, spec)


def _close(low: Any, high: Any, spec: ArraySpec) -> tuple[Any, Any]:
    """Put a side without bound :data:`UNBOUNDED_LIMIT` from zero, or from a bound beyond that."""
    nested = low if isinstance(low, (list, tuple)) else high
    if isinstance(nested, (list, tuple)):
        lows, highs = _spread(low, len(nested)), _spread(high, len(nested))
        pairs = [_close(*pair, spec) for pair in zip(lows, highs, strict=True)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    below = (
        low if _is_bound(low) else min(-UNBOUNDED_LIMIT, (high if _is_bound(high) else 0) - UNBOUNDED_LIMIT)
    )
    above = (
        high if _is_bound(high) else max(UNBOUNDED_LIMIT, (low if _is_bound(low) else 0) + UNBOUNDED_LIMIT)
    )
    if not _is_integer(spec):
        return float(below), float(above)
    if spec.dtype.startswith(("uint", "bool")):
        below, above = max(0, below), max(0, above)
    return math.ceil(below), math.floor(above)


def _is_bound(value: float | None) -> bool:
    return value is not None and abs(value) < NO_BOUND
