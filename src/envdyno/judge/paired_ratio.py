"""The ratio of two sides from pairs of runs: head over base, on the log scale, with its uncertainty.

Each pair gives one log ratio, ``log(head) - log(base)``. Whatever slows the machine for the length of a pair
cancels in it, and what hits one run of a pair hits either side alike, so that log ratios of equal sides are
symmetric about zero whatever the noise looks like. Student's t on symmetric data errs on the safe side when
tails are heavy (Efron 1969; Benjamini 1983). Geometric means are the ones that do not depend on which side
is the reference (Fleming and Wallace 1986).

From six pairs on, three of each order, what the first place in a pair costs or gains is estimated and
removed, as in a two-period cross-over trial (Hills and Armitage 1979). A steady drift of the machine has the
same shape, and goes with it.

Everything here works on the last axis, so that a simulation may judge thousands of experiments at once with
the very code that judges one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envdyno.judge.distributions import Floats, student_quantile, student_upper_tail

__all__ = [
    "MIN_FOR_POSITION",
    "PairedFit",
    "VarianceSource",
    "fit_pairs",
    "half_width",
    "lower_tail",
    "upper_tail",
]

MIN_FOR_POSITION = 6
"""Pairs from which on the position effect is estimated. With fewer, its degree of freedom is worth more."""
_MIN_OF_EACH_ORDER = 2


class VarianceSource(NamedTuple):
    """One opinion on how much a single pair's log ratio varies."""

    name: str
    variance: Floats
    df: float
    """Degrees of freedom behind it; infinite if it is taken as known."""


class PairedFit(NamedTuple):
    """Mean log ratio and residual variance of one pair: shape (...) for log ratios of shape (..., n)."""

    mean: Floats
    residual: VarianceSource
    """The pairs' own spread about what was fitted."""
    scale: float
    """Variance of ``mean`` over variance of one pair; 1/n where both orders are equally frequent."""
    n: int
    position_effect: Floats | None
    """Half the difference between head-second and head-first pairs: how much going second gains, as a log
    ratio. ``None`` with fewer than six pairs, or in one order only."""

    def standard_error(self, source: VarianceSource | None = None) -> Floats:
        """Standard error of the mean, by the pairs' own spread or by another source's variance."""
        variance = (source or self.residual).variance
        return np.asarray(np.sqrt(variance * self.scale), dtype=np.float64)


def fit_pairs(log_ratios: npt.ArrayLike, head_first: Sequence[bool]) -> PairedFit:
    """Fit the mean log ratio of n >= 2 pairs.

    Args:
        log_ratios: shape (..., n), one log ratio a pair.
        head_first: n flags: whether the head side ran first in the pair.

    Raises:
        ValueError: fewer than two pairs, or the numbers of log ratios and flags differ.
    """
    d = np.asarray(log_ratios, dtype=np.float64)
    first = np.asarray(head_first, dtype=bool)
    n = d.shape[-1]
    if n != first.size:
        raise ValueError(f"{n} log ratios came with {first.size} orders; there must be one of each per pair.")
    if n < 2:
        raise ValueError(f"A spread needs at least two pairs, and there is {n}.")
    n_first, n_second = int(first.sum()), int((~first).sum())
    if n < MIN_FOR_POSITION or min(n_first, n_second) < _MIN_OF_EACH_ORDER:
        mean = d.mean(axis=-1)
        variance = d.var(axis=-1, ddof=1)
        return PairedFit(mean, VarianceSource("pairs", variance, n - 1), 1.0 / n, n, None)
    when_first, when_second = d[..., first], d[..., ~first]
    mean_first, mean_second = when_first.mean(axis=-1), when_second.mean(axis=-1)
    squares = ((when_first - mean_first[..., None]) ** 2).sum(axis=-1)
    squares += ((when_second - mean_second[..., None]) ** 2).sum(axis=-1)
    return PairedFit(
        mean=(mean_first + mean_second) / 2,
        residual=VarianceSource("pairs", squares / (n - 2), n - 2),
        scale=(1.0 / n_first + 1.0 / n_second) / 4,
        n=n,
        position_effect=(mean_second - mean_first) / 2,
    )


def half_width(fit: PairedFit, sources: Sequence[VarianceSource], tail: float) -> Floats:
    """Distance from the mean to the one-sided bound that is wrong with probability ``tail``.

    The widest of the sources holds; the pairs' own spread is always one of them.
    """
    widths = [
        student_quantile(tail, source.df) * fit.standard_error(source) for source in (fit.residual, *sources)
    ]
    return np.asarray(np.max(np.stack([np.asarray(w) for w in np.broadcast_arrays(*widths)]), axis=0))


def upper_tail(fit: PairedFit, sources: Sequence[VarianceSource], log_bound: float) -> Floats:
    """One-sided p-value against "the true log ratio is at most ``log_bound``".

    It is at most ``tail`` where ``mean - half_width(tail) >= log_bound``, and only there.
    """
    return _tail(fit, sources, fit.mean - log_bound)


def lower_tail(fit: PairedFit, sources: Sequence[VarianceSource], log_bound: float) -> Floats:
    """One-sided p-value against "the true log ratio is at least ``log_bound``".

    It is at most ``tail`` where ``mean + half_width(tail) <= log_bound``, and only there.
    """
    return _tail(fit, sources, log_bound - fit.mean)


def _tail(fit: PairedFit, sources: Sequence[VarianceSource], distance: Floats) -> Floats:
    tails = []
    for source in (fit.residual, *sources):
        error = fit.standard_error(source)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(error > 0, distance / error, np.sign(distance) * math.inf)
        tails.append(
            student_upper_tail(np.nan_to_num(t, nan=0.0, posinf=math.inf, neginf=-math.inf), source.df)
        )
    return np.asarray(np.max(np.stack([np.asarray(p) for p in np.broadcast_arrays(*tails)]), axis=0))
