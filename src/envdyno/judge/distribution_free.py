"""An interval for the ratio that assumes symmetry only: Hodges and Lehmann's, from Wilcoxon's signed ranks.

The estimate is the median of all averages of two pairs (Hodges and Lehmann 1963); the interval inverts the
exact signed-rank test, whose null distribution is that of all 2^n flips of the pairs' signs. It exists from
six pairs on: with five, the most extreme of the 32 sign patterns still has probability 1/16 two-sided.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envdyno.judge.distributions import Floats

__all__ = ["SignedRankInterval", "hodges_lehmann", "signed_rank_interval"]


class SignedRankInterval(NamedTuple):
    """Log ratio with an interval; its true confidence is a little more than asked for, as ranks go."""

    estimate: float
    low: float
    high: float
    confidence: float


def hodges_lehmann(log_ratios: npt.ArrayLike) -> Floats:
    """Median of the n(n+1)/2 Walsh averages along the last axis."""
    return np.asarray(np.median(_walsh_averages(np.asarray(log_ratios, dtype=np.float64)), axis=-1))


def signed_rank_interval(log_ratios: npt.ArrayLike, confidence: float = 0.95) -> SignedRankInterval | None:
    """Exact interval for the centre of symmetry, or ``None`` where so few pairs cannot give one.

    Args:
        log_ratios: one per pair, shape (n,).
        confidence: two-sided.
    """
    d = np.asarray(log_ratios, dtype=np.float64)
    cumulative = _signed_rank_cumulative(d.size)
    below = np.searchsorted(np.asarray(cumulative), (1 - confidence) / 2, side="right")
    if below == 0:
        return None
    walsh = np.sort(_walsh_averages(d))
    return SignedRankInterval(
        estimate=float(np.median(walsh)),
        low=float(walsh[below - 1]),
        high=float(walsh[walsh.size - below]),
        confidence=1 - 2 * cumulative[below - 1],
    )


def _walsh_averages(d: Floats) -> Floats:
    i, j = np.triu_indices(d.shape[-1])
    return np.asarray((d[..., i] + d[..., j]) / 2)


@lru_cache(maxsize=64)
def _signed_rank_cumulative(n: int) -> tuple[float, ...]:
    """P(W <= w) for w = 0, 1, ...: each rank is in the sum or not, with equal chance."""
    counts = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(counts.size + rank)
        longer[: counts.size] += counts / 2
        longer[rank:] += counts / 2
        counts = longer
    return tuple(float(p) for p in np.cumsum(counts))
