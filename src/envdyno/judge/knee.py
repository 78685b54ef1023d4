"""The knee of a curve of rates over batch sizes: from there on, more environments bring little."""

from __future__ import annotations

from collections.abc import Mapping

NEAR_BEST = 0.95
"""The knee is the smallest batch whose rate is this part of the best rate."""
MIN_GAIN = 1.05
"""A rise of less than this, twice in a row, is none worth more environments."""


def knee_of(rates: Mapping[int, float]) -> int:
    """Return the smallest batch size whose rate is near the best.

    Args:
        rates: by batch size; at least one.
    """
    best = max(rates.values())
    return min(size for size, rate in rates.items() if rate >= NEAR_BEST * best)


def is_flat(rates: Mapping[int, float]) -> bool:
    """Return whether the last two batch sizes, the largest, did not bring a gain worth having."""
    sizes = sorted(rates)
    if len(sizes) < 3:
        return False
    before = max(rates[size] for size in sizes[:-2])
    return max(rates[size] for size in sizes[-2:]) < MIN_GAIN * before
