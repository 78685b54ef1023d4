"""Several cases, one experiment: Holm's correction (Holm 1979, "A simple sequentially rejective procedure").

It bounds the chance that *any* case is called FAIL by mistake, however the cases depend on each other. For
PASS none is needed: an experiment passes only if every case does, and the chance that all of several tests
err together is no more than that of one (intersection-union test, Berger 1982).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["holm"]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values in the order given: reject where the adjusted value is small enough by itself."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return tuple(adjusted)
