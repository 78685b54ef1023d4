"""Within one run: did throughput stay level over the window, and how many independent figures is the series?

Sub-windows that follow each other are not independent. Their effective number is ``n / (1 + 2*sum of
autocorrelations)``, the sum ended by Geyer's initial positive sequence ("Practical Markov chain Monte Carlo",
1992), after a line or a step is taken out. The trend is tested by Mann and Kendall's rank test with its
variance widened for autocorrelation (Hamed and Rao 1998), and its size is the median of all pairwise slopes
(Theil-Sen).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

import numpy as np
import numpy.typing as npt

from envdyno.judge.distributions import Floats, student_upper_tail

__all__ = ["SeriesReport", "Stationarity", "examine_series", "is_trending"]

_MIN_WINDOWS = 6
_MIN_FOR_AUTOCORRELATION = 8
_MIN_BESIDE_STEP = 2
_ALPHA = 0.01
_LIMIT = 0.02


class Stationarity(str, Enum):
    """Whether one level describes a run."""

    STEADY = "steady"
    TREND = "trend"
    """A trend that is both sure (1 %) and larger than 2 % over the run."""
    TOO_SHORT = "too_short"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesReport:
    """What a run's own series says; undefined figures are ``None`` with a reason in ``why_null``."""

    n: int
    stationarity: Stationarity
    effective_n: float | None = None
    lag1_autocorrelation: float | None = None
    trend: float | None = None
    """Change from the first to the last sub-window by the Theil-Sen slope, as a fraction of the median."""
    trend_p: float | None = None
    last_third_over_first: float | None = None
    """Median of the last third over median of the first."""
    why_null: Mapping[str, str] = field(default_factory=dict)


def examine_series(values: Sequence[float]) -> SeriesReport:
    """Examine the throughput of equally long sub-windows, in order of time.

    Args:
        values: finite rates; a sub-window in which nothing was completed has 0.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size < _MIN_WINDOWS:
        fields = ("effective_n", "lag1_autocorrelation", "trend", "trend_p", "last_third_over_first")
        why = dict.fromkeys(
            fields, f"a trend needs at least {_MIN_WINDOWS} sub-windows, and there are {x.size}"
        )
        return SeriesReport(n=x.size, stationarity=Stationarity.TOO_SHORT, why_null=why)
    median = _median(x)
    if median <= 0:
        fields = ("effective_n", "lag1_autocorrelation", "trend", "trend_p", "last_third_over_first")
        why = dict.fromkeys(fields, "nothing was completed in half of the sub-windows or more")
        return SeriesReport(n=x.size, stationarity=Stationarity.TOO_SHORT, why_null=why)
    slope = _theil_sen(x)
    correlations = _autocorrelations(_without_movement(x, slope))
    effective = _effective_number(correlations, x.size)
    p = _mann_kendall(x, effective)
    third = x.size // 3
    first_third = _median(x[:third])
    thirds = _median(x[-third:]) / first_third if first_third > 0 else math.inf
    trend = slope * (x.size - 1) / median
    moved = p < _ALPHA and max(abs(trend), abs(thirds - 1)) > _LIMIT
    why = {}
    if correlations is None:
        why = dict.fromkeys(
            ("effective_n", "lag1_autocorrelation"),
            f"autocorrelation needs at least {_MIN_FOR_AUTOCORRELATION} sub-windows that are not all equal",
        )
    if first_third <= 0:
        why = {**why, "last_third_over_first": "nothing was completed in most of the first third"}
    return SeriesReport(
        n=x.size,
        stationarity=Stationarity.TREND if moved else Stationarity.STEADY,
        effective_n=None if correlations is None else effective,
        lag1_autocorrelation=None if correlations is None else float(correlations[1]),
        trend=trend,
        trend_p=p,
        last_third_over_first=thirds if first_third > 0 else None,
        why_null=why,
    )


def is_trending(values: Sequence[float]) -> bool:
    """Return whether :func:`examine_series` finds a trend; quick where the ends differ too little for one."""
    x = np.asarray(values, dtype=np.float64)
    if x.size >= _MIN_WINDOWS:
        third = x.size // 3
        first, last, middle = (_median(part) for part in (x[:third], x[-third:], x))
        is_level = first > 0 and abs(last / first - 1) <= _LIMIT
        if is_level and middle > 0 and abs(_theil_sen(x) * (x.size - 1) / middle) <= _LIMIT:
            return False
    return examine_series(values).stationarity is Stationarity.TREND


def _median(x: Floats) -> float:
    """Return the median of a few finite values, at a tenth of what ``np.median`` costs for so few."""
    ordered = np.sort(x)
    middle = ordered.size // 2
    return float(ordered[middle] if ordered.size % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


@cache
def _pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the indices of all pairs of n values, the earlier first."""
    return np.triu_indices(n, k=1)


def _theil_sen(x: Floats) -> float:
    i, j = _pairs(x.size)
    return _median((x[j] - x[i]) / (j - i))


def _without_movement(x: Floats, slope: float) -> Floats:
    """The series less a line or less a step, whichever leaves less.

    Either would otherwise count as autocorrelation, which is what hides it from the test.
    """
    # A step at k leaves least where the sum of squares between its two parts is largest.
    centred = x - x.mean()
    k = np.arange(_MIN_BESIDE_STEP, x.size - _MIN_BESIDE_STEP + 1)
    between = np.cumsum(centred)[k - 1] ** 2 * x.size / (k * (x.size - k))
    best = int(k[np.argmax(between)])
    stepped = np.concatenate([x[:best] - x[:best].mean(), x[best:] - x[best:].mean()])
    sloped = x - slope * np.arange(x.size)
    sloped -= sloped.mean()
    return min(sloped, stepped, key=lambda rest: float((rest**2).sum()))


def _autocorrelations(x: Floats) -> Floats | None:
    """Autocorrelations at lags 0, 1, ..., or ``None`` if they are undefined."""
    centred = x - x.mean()
    variance = float(centred @ centred)
    if x.size < _MIN_FOR_AUTOCORRELATION or variance <= (1e-12 * abs(float(x.mean()))) ** 2 * x.size:
        return None
    full = np.correlate(centred, centred, mode="full")[x.size - 1 :]
    return np.asarray(full / variance)


def _effective_number(correlations: Floats | None, n: int) -> float:
    if correlations is None:
        return float(n)
    total = 0.0
    for k in range(0, n - 1, 2):
        pair = float(correlations[k] + correlations[k + 1])
        if pair <= 0:
            break
        total += pair
    return float(min(n, max(1.0, n / max(2 * total - 1, 1e-9))))


def _mann_kendall(x: Floats, effective: float) -> float:
    """Two-sided p-value for "no monotone trend", with the normal approximation and ties accounted for."""
    n = x.size
    i, j = _pairs(n)
    s = float(np.sign(x[j] - x[i]).sum())
    ties = np.unique(x, return_counts=True)[1].astype(np.float64)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return 1.0
    z = max(abs(s) - 1, 0.0) / math.sqrt(variance * n / effective)
    return min(1.0, 2 * float(student_upper_tail(z, math.inf)))
