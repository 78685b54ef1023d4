"""Two independent samples without partners: Mann and Whitney's test, and the intervals that go with it.

The test is exact where there are no ties and the samples are small, and otherwise a normal approximation with
continuity and tie corrections. The interval for the shift between the samples inverts the exact null
distribution (Hodges and Lehmann 1963; Hollander and Wolfe, "Nonparametric Statistical Methods", section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envdyno.judge.distributions import Floats, student_quantile, student_upper_tail

__all__ = ["MedianInterval", "Shift", "mann_whitney_p", "median_interval", "median_shift", "shift_interval"]

_ALL_DIFFERENCES_UP_TO = 1_000_000
_BISECTIONS = 60
_EXACT_UP_TO = 50
"""Sample size up to which the exact distribution is used."""


class Shift(NamedTuple):
    """How far the second sample lies above the first."""

    estimate: float
    """Median of all differences between a figure of the second and one of the first."""
    low: float
    high: float


class MedianInterval(NamedTuple):
    """An interval for a median from order statistics; its confidence is at least what was asked for."""

    low: float
    high: float
    confidence: float


def mann_whitney_p(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Two-sided p-value for "the samples come from one distribution"."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if not x.size or not y.size:
        raise ValueError("The rank-sum test needs at least one figure on each side.")
    u = _u_statistic(x, y)
    smaller = min(u, x.size * y.size - u)
    tied = np.unique(np.concatenate([x, y])).size < x.size + y.size
    if not tied and max(x.size, y.size) <= _EXACT_UP_TO:
        return min(1.0, 2 * _u_cumulative(x.size, y.size)[int(smaller)])
    return _normal_p(x, y, smaller)


def shift_interval(first: npt.ArrayLike, second: npt.ArrayLike, tail: float = 0.025) -> Shift | None:
    """The shift and its interval, with an error of at most ``tail`` at each end.

    Returns:
        ``None`` if so few figures cannot give such an interval: three against three cannot at 0.025, and can
        at 0.05.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    below = _count_below(x.size, y.size, tail)
    if below == 0:
        return None
    low, high = _ordered_differences(x, y, (below - 1, x.size * y.size - below))
    return Shift(estimate=median_shift(x, y), low=low, high=high)


def median_shift(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """The median of all differences between a figure of the second sample and one of the first."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    total = x.size * y.size
    lower, upper = _ordered_differences(x, y, ((total - 1) // 2, total // 2))
    return (lower + upper) / 2


def median_interval(values: npt.ArrayLike, confidence: float = 0.95) -> MedianInterval | None:
    """Interval for the median from two order statistics, or ``None`` with too few values (six for 95 %).

    The chance that the median lies below the k-th smallest of n values is that of fewer than k heads in n
    throws of a fair coin (David and Nagaraja, "Order Statistics", section 7.1).
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    tail, k = 0.0, 0
    while k < x.size // 2 and 2 * (tail + _binomial_half(x.size, k)) <= 1 - confidence + 1e-12:
        tail += _binomial_half(x.size, k)
        k += 1
    if k == 0:
        return None
    return MedianInterval(float(x[k - 1]), float(x[x.size - k]), 1 - 2 * tail)


def _binomial_half(n: int, k: int) -> float:
    return float(math.comb(n, k) / 2**n)


def _u_statistic(x: Floats, y: Floats) -> float:
    """Pairs in which the second sample's figure is larger; ties count half."""
    ordered = np.sort(x)
    smaller = np.searchsorted(ordered, y, side="left").sum()
    not_larger = np.searchsorted(ordered, y, side="right").sum()
    return float(smaller + not_larger) / 2


def _ordered_differences(x: Floats, y: Floats, ranks: Sequence[int]) -> list[float]:
    """The differences between a figure of ``y`` and one of ``x`` with the given ranks, counted from 0.

    Rounds of a microbenchmark come by the hundred thousand, and their differences would not fit in memory;
    of these, a rank is found by bisection on the value.
    """
    if x.size * y.size <= _ALL_DIFFERENCES_UP_TO:
        differences = np.sort((y[:, None] - x[None, :]).ravel())
        return [float(differences[rank]) for rank in ranks]
    ordered = np.sort(x)
    return [_difference_of_rank(ordered, y, rank) for rank in ranks]


def _difference_of_rank(ordered: Floats, y: Floats, rank: int) -> float:
    low, high = float(y.min() - ordered[-1]), float(y.max() - ordered[0])
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        at_most = (ordered.size - np.searchsorted(ordered, y - middle, side="left")).sum()
        low, high = (low, middle) if at_most > rank else (middle, high)
    return (low + high) / 2


def _normal_p(x: Floats, y: Floats, smaller: float) -> float:
    n = x.size + y.size
    counts = np.unique(np.concatenate([x, y]), return_counts=True)[1].astype(np.float64)
    ties = float((counts**3 - counts).sum()) / (n * (n - 1)) if n > 1 else 0.0
    variance = x.size * y.size / 12 * (n + 1 - ties)
    if variance <= 0:
        return 1.0
    z = max(0.0, x.size * y.size / 2 - smaller - 0.5) / math.sqrt(variance)
    return min(1.0, 2 * float(student_upper_tail(z, math.inf)))


def _count_below(n: int, m: int, tail: float) -> int:
    """How many of the ordered differences lie outside the interval at each end, plus its own end."""
    if n == 0 or m == 0:
        return 0
    if max(n, m) <= _EXACT_UP_TO:
        return int(np.searchsorted(np.asarray(_u_cumulative(n, m)), tail + 1e-12, side="right"))
    z = student_quantile(tail, math.inf)
    return max(0, math.floor(n * m / 2 - z * math.sqrt(n * m * (n + m + 1) / 12)))


@lru_cache(maxsize=64)
def _u_cumulative(n: int, m: int) -> tuple[float, ...]:
    """P(U <= u) for u = 0 ... n*m, by the Gaussian binomial coefficient, in whole numbers."""
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):
            counts[u] += counts[u - i]
    total = math.comb(n + m, n)
    sums, running = [], 0
    for count in counts:
        running += count
        sums.append(running / total)
    return tuple(sums)
