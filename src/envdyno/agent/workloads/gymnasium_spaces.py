"""Batches of actions for spaces that are no plain array: mappings and tuples of spaces, texts, graphs."""

from __future__ import annotations

from typing import Any

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.vector_env import space_spec


class SpaceActions:
    """Makes the action ring of a vector environment, part by part.

    Args:
        single: the space of one environment's action.
        batched: the space of the whole vector's action.
        num_envs: environments in the vector.
    """

    def __init__(self, single: Any, batched: Any, num_envs: int) -> None:
        """Remember the spaces."""
        self._single, self._batched, self._num_envs = single, batched, num_envs

    def __call__(self, *, source: str, seed: int, batches: int) -> list[Any]:
        """Return ``batches`` batches.

        Raises:
            WorkloadError: the space can only be sampled, and something else was asked for.
        """
        if _is_nested(self._single):
            return self._ring(self._single, ActionSource(source), seed)
        if source == ActionSource.ZERO.value:
            raise WorkloadError(
                f"Actions of this environment are {type(self._single).__name__}, which has no zero; use "
                "--actions random or fixed."
            )
        self._batched.seed(seed)
        return [self._batched.sample() for _ in range(batches)]

    def _ring(self, space: Any, source: ActionSource, seed: int) -> list[Any]:
        """Return a ring for a space, whose parts get rings of their own."""
        parts = getattr(space, "spaces", None)
        if isinstance(parts, dict):
            rings = {
                key: self._ring(part, source, seed + 7919 * (index + 1))
                for index, (key, part) in enumerate(parts.items())
            }
            return [dict(zip(rings, batch, strict=True)) for batch in zip(*rings.values(), strict=True)]
        if parts is not None:
            members = [
                self._ring(part, source, seed + 7919 * (index + 1)) for index, part in enumerate(parts)
            ]
            return [tuple(batch) for batch in zip(*members, strict=True)]
        return action_ring(space_spec(space), self._num_envs, source, seed)


def _is_nested(space: Any) -> bool:
    """Return whether a space is a mapping or tuple whose leaves are all plain arrays."""
    parts = getattr(space, "spaces", None)
    if parts is None:
        return space_spec(space) is not None
    return all(map(_is_nested, parts.values() if isinstance(parts, dict) else parts))
