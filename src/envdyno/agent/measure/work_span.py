"""The workload's own running totals, read at the edges of a window."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


class WorkSpan:
    """Differences of the running totals between two edges."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        """Read the totals by ``read``."""
        self._read = read
        self._before: Mapping[str, Any] = {}
        self.vector_steps = 0
        self.totals: dict[str, Any] = {}

    def open(self) -> None:
        """Read at the first edge."""
        self._before = dict(self._read())

    def close(self, vector_steps: int) -> None:
        """Read at the last edge. Totals that were not told as numbers at both edges are absent."""
        after = self._read()
        self.vector_steps = vector_steps
        self.totals = {
            name: after[name] - value
            for name, value in self._before.items()
            if _is_number(value) and _is_number(after.get(name))
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"vector_steps": self.vector_steps, "totals": self.totals}
