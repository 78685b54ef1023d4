"""Counting inside a Gymnasium environment, for a check of what its vector reports."""

from __future__ import annotations

import sys
from typing import Any

from envdyno.agent.workloads.vector_env import processes_of


def counting_wrapper(gymnasium: Any) -> Any:
    """Return a wrapper class that counts inside the environment, beside what its vector reports."""

    class CountsInside(gymnasium.Wrapper):  # type: ignore[misc]
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self._transitions = 0

        def step(self, action: Any) -> Any:
            self._transitions += 1
            return super().step(action)

        def transitions_inside(self) -> int:
            return self._transitions

    return CountsInside


def watch_vector(env: Any) -> None:
    """Count inside the environments of a ``SyncVectorEnv`` that somebody else made.

    A vector that counts inside itself is left alone; so is one whose environments are out of reach.
    """
    vectors = sys.modules.get("gymnasium.vector")
    vector = getattr(env, "unwrapped", env)
    if vectors is None or not isinstance(vector, vectors.SyncVectorEnv):
        return
    if any(callable(getattr(holder, "count_inside", None)) for holder in (env, vector)):
        return
    wrapper = counting_wrapper(sys.modules["gymnasium"])
    vector.envs = type(vector.envs)(map(wrapper, vector.envs))
    env.count_inside = lambda: sum(inner.transitions_inside() for inner in vector.envs)


def why_not_inside(env: Any) -> str | None:
    """Return why nothing can be counted inside a vector's environments, where that is known."""
    if not processes_of(env):
        return None
    return "its environments are processes of their own (AsyncVectorEnv), which cannot be counted inside"
