"""Quantiles without NumPy."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(ordered: Sequence[float], q: float) -> float:
    """Return quantile ``q`` (0 to 1) of an ascending, non-empty sequence.

    Linear interpolation between order statistics, definition 7 of Hyndman and Fan, "Sample Quantiles in
    Statistical Packages", The American Statistician 50 (1996); the default of NumPy and R.

    Raises:
        ValueError: the sequence is empty.
    """
    if not ordered:
        raise ValueError("A quantile of no values is not defined.")
    position = (len(ordered) - 1) * q
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def median(values: Sequence[float]) -> float:
    """Return the median of a non-empty sequence: the mean of the middle two when there are two."""
    return quantile(sorted(values), 0.5)
