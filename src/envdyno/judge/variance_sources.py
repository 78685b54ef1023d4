"""What is known of a machine's noise besides the pairs at hand: it may widen an interval, never narrow it.

Three pairs sometimes agree by luck. A t interval cannot know that, and becomes as narrow as they are. So the
judge asks others: an earlier A/A experiment on this machine, the canary that ran beside the same pairs, the
other cases of the experiment, and the least spread that any such measurement has. Each opinion is combined
with the pairs' own spread by the moderated variance of Smyth (2004, "Linear models and empirical Bayes
methods for assessing differential expression"), ``(d0*s0^2 + d*s^2)/(d0 + d)`` with ``d0 + d`` degrees of
freedom. The interval is then the widest of all, the plain t interval among them.

Smyth's interval may also be narrower than the plain one. That is not used here: cases of one experiment
differ in noise by a factor of ten and more, and to borrow calm from a quiet neighbour would let a noisy case
fail or pass by accident. As it is, no verdict is wrong more often than with the plain interval, whatever the
others say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from envdyno.judge.distributions import Floats, digamma, trigamma, trigamma_inverse
from envdyno.judge.paired_ratio import PairedFit, VarianceSource

__all__ = ["LEAST_SPREAD", "NoisePrior", "least_spread", "moderated", "prior_from_cases"]

LEAST_SPREAD = 0.001
"""Standard deviation of a pair's log ratio that is assumed at least, 0.1 %: whole vector steps are counted in
a window of a few hundred to a few thousand of them, so equal figures are rounding and not precision."""

_MIN_CASES = 3


class NoisePrior(NamedTuple):
    """An opinion on the variance of one pair's log ratio, from somewhere else than the pairs at hand."""

    name: str
    variance: float
    df: float


def least_spread(counting_variance: float = 0.0) -> VarianceSource:
    """The spread below which no set of pairs is believed.

    Args:
        counting_variance: variance of a pair's log ratio from counting whole vector steps, where known.
    """
    return VarianceSource("least_spread", np.asarray(max(LEAST_SPREAD**2, counting_variance)), math.inf)


def moderated(fit: PairedFit, prior: NoisePrior) -> VarianceSource:
    """The prior and the pairs' own variance, weighted by their degrees of freedom."""
    own = fit.residual
    if math.isinf(prior.df):
        return VarianceSource(prior.name, np.asarray(prior.variance), math.inf)
    df = prior.df + own.df
    variance: Floats = (prior.df * prior.variance + own.df * own.variance) / df
    return VarianceSource(prior.name, np.asarray(variance), df)


def prior_from_cases(variances: Sequence[float], dfs: Sequence[float]) -> NoisePrior | None:
    """How much cases of one experiment vary, from all of them (Smyth 2004, section 6.2).

    The spread of the cases' variances beyond what chance gives says how alike they are: unalike cases give
    few degrees of freedom, and so a weak opinion. At most those that were really seen are claimed.

    Args:
        variances: residual variance of each case's pairs.
        dfs: its degrees of freedom, all positive.

    Returns:
        ``None`` with fewer than three cases.
    """
    if len(variances) < _MIN_CASES:
        return None
    logs = []
    for variance, df in zip(variances, dfs, strict=True):
        bounded = max(variance, LEAST_SPREAD**2)
        logs.append(math.log(bounded) - digamma(df / 2) + math.log(df / 2))
    centre = float(np.mean(logs))
    excess = float(np.var(logs, ddof=1)) - float(np.mean([trigamma(df / 2) for df in dfs]))
    seen = float(sum(dfs))
    if excess <= 0:
        return NoisePrior("other_cases", math.exp(centre), seen)
    df0 = 2 * trigamma_inverse(excess)
    variance0 = math.exp(centre + digamma(df0 / 2) - math.log(df0 / 2))
    return NoisePrior("other_cases", variance0, min(df0, seen))
