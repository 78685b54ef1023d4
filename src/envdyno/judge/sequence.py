"""The statistical heart of the gate: p-values for "below the gate" and "at or above it" over all looks.

Works on the last axis like :mod:`envdyno.judge.paired_ratio`, so that the simulation in
``benchmarks/judge.py`` runs this code and not a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envdyno.judge.distribution_free import hodges_lehmann
from envdyno.judge.distributions import Floats
from envdyno.judge.looks import Look
from envdyno.judge.paired_ratio import PairedFit, VarianceSource, fit_pairs, lower_tail, upper_tail

__all__ = ["GatePValues", "KnownNoise", "look_p_values", "sequence_p_values", "shows_below", "shows_meets"]

KnownNoise = Callable[[PairedFit], Sequence[VarianceSource]]
"""Given the fit at a look, every other opinion on the variance."""


class GatePValues(NamedTuple):
    """One-sided p-values at a gate; small means shown."""

    below: Floats
    """Against "the ratio is at or above the gate": small if it is shown to be below."""
    meets: Floats
    """Against "the ratio is below the gate": small if it is shown to meet it."""


def shows_below(p: Floats | float, alpha: float) -> npt.NDArray[np.bool_]:
    """The one predicate for FAIL: the upper bound at level ``alpha`` is below the gate; touching is not."""
    return np.asarray(np.asarray(p) < alpha)


def shows_meets(p: Floats | float, alpha: float) -> npt.NDArray[np.bool_]:
    """The one predicate for PASS: the lower bound at level ``alpha`` lies at or above the gate."""
    return np.asarray(np.asarray(p) <= alpha)


def look_p_values(
    log_ratios: npt.ArrayLike, head_first: Sequence[bool], log_gate: float, known: KnownNoise
) -> GatePValues:
    """p-values of a single look.

    Mean, median and Hodges-Lehmann estimate must all lie on the side of the gate that is claimed; where they
    disagree, the distribution is no symmetric one, and nothing is shown (p = 1).

    Args:
        log_ratios: shape (..., n).
        head_first: n flags.
        log_gate: log of the gate's ratio.
        known: other opinions on the variance.
    """
    d = np.asarray(log_ratios, dtype=np.float64)
    fit = fit_pairs(d, head_first)
    sources = known(fit)
    centres = np.stack(np.broadcast_arrays(fit.mean, np.median(d, axis=-1), hodges_lehmann(d)))
    all_below = (centres < log_gate).all(axis=0)
    all_meet = (centres >= log_gate).all(axis=0)
    return GatePValues(
        below=np.where(all_below, lower_tail(fit, sources, log_gate), 1.0),
        meets=np.where(all_meet, upper_tail(fit, sources, log_gate), 1.0),
    )


def sequence_p_values(
    log_ratios: npt.ArrayLike,
    head_first: Sequence[bool],
    log_gate: float,
    looks: Sequence[Look],
    known: KnownNoise,
) -> GatePValues:
    """p-values over a sequence of looks: the least of ``p/share``, at most one.

    Args:
        log_ratios: shape (..., n), in the order in which the pairs were run.
        head_first: n flags.
        log_gate: log of the gate's ratio.
        looks: the looks that were reached; each must have at most n pairs.
        known: other opinions on the variance.
    """
    d = np.asarray(log_ratios, dtype=np.float64)
    below = np.ones(d.shape[:-1])
    meets = np.ones(d.shape[:-1])
    for look in looks:
        p = look_p_values(d[..., : look.pairs], head_first[: look.pairs], log_gate, known)
        below = np.minimum(below, p.below / look.share)
        meets = np.minimum(meets, p.meets / look.share)
    return GatePValues(below, meets)
