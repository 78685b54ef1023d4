"""Counting inside a Gymnasium environment, for a check of what its vector reports."""

from __future__ import annotations

from typing import Any


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
