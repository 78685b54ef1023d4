"""The ratio of one case, ready to be reported: estimates, intervals, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from envdyno.judge.distribution_free import SignedRankInterval, signed_rank_interval
from envdyno.judge.evidence import Metric
from envdyno.judge.paired_ratio import PairedFit, VarianceSource, fit_pairs, half_width
from envdyno.judge.pairing import PairSet
from envdyno.judge.resolution import smallest_change
from envdyno.judge.sequence import KnownNoise
from envdyno.judge.variance_sources import NoisePrior, least_spread, moderated

__all__ = ["METHOD", "RatioEstimate", "RatioInterval", "estimate_ratio", "known_noise"]

METHOD = "geometric mean of paired ratios; Student t on log ratios, never narrower than the known noise"


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """An interval of a ratio."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioEstimate:
    """Head over base. What so few pairs cannot give is ``None``, with its reason in ``why_null``."""

    n: int
    ratio: float
    """Geometric mean of the pairs' ratios, freed of the position effect from six pairs on."""
    median_ratio: float
    """Median of the pairs' ratios; the plain rule judges this one."""
    ratio_of_medians: float
    """Median of head over median of base, as tables of medians give it."""
    pair_ratios: tuple[float, ...]
    """In the order of the pairs."""
    interval: RatioInterval | None = None
    """Two-sided, 95 % unless asked otherwise, for these pairs as if their number had been fixed."""
    gate_bounds: RatioInterval | None = None
    """The two one-sided bounds at the level of the last look: what the verdict rests on."""
    distribution_free: RatioInterval | None = None
    """From signed ranks, from six pairs on, to be read beside ``interval``."""
    distribution_free_ratio: float | None = None
    """The Hodges-Lehmann estimate that goes with it."""
    distribution_free_confidence: float | None = None
    smallest_change: float | None = None
    """The smallest loss that these pairs could show, as a fraction."""
    position_effect: float | None = None
    """How much the second place in a pair gains, as a fraction."""
    limited_by: str | None = None
    """Whose opinion on the noise set the width: ``pairs``, ``noise_floor``, ``canary``, ``other_cases`` or
    ``least_spread``."""
    method: str = METHOD
    why_null: Mapping[str, str] = field(default_factory=dict)


def known_noise(priors: Sequence[NoisePrior], pairs: PairSet | None = None) -> KnownNoise:
    """Every opinion on the variance but the pairs' own: given priors, the pairs' canary, the least spread.

    The canary's spread is taken over the same pairs as the fit, so that a look at three pairs asks the
    canary about those three. The least spread is that of counting whole vector steps, where the runs tell
    how many a window had.
    """
    counting = 0.0 if pairs is None else _counting_variance(pairs)
    canary = None if pairs is None else pairs.canary_log_ratios()
    head_first = () if pairs is None else pairs.head_first

    def opinions(fit: PairedFit) -> Sequence[VarianceSource]:
        asked = list(priors)
        if canary is not None and canary.size >= fit.n:
            spread = fit_pairs(canary[: fit.n], head_first[: fit.n]).residual
            asked.append(NoisePrior("canary", float(spread.variance), spread.df))
        return [*(moderated(fit, prior) for prior in asked), least_spread(counting)]

    return opinions


def estimate_ratio(
    pairs: PairSet,
    known: KnownNoise,
    metric: Metric = Metric.TRANSITIONS_PER_S,
    confidence: float = 0.95,
    gate_level: float = 0.05,
) -> RatioEstimate | None:
    """Estimate the ratio of one case from its pairs.

    Args:
        pairs: the pairs to use.
        known: other opinions on the noise.
        metric: which rate.
        confidence: of the two-sided interval.
        gate_level: error probability of each one-sided bound.

    Returns:
        ``None`` without any pair.
    """
    if not pairs.used:
        return None
    d = pairs.log_ratios(metric)
    rates = [(pair.base.rate(metric), pair.head.rate(metric)) for pair in pairs.used]
    base, head = (np.asarray(side, dtype=np.float64) for side in zip(*rates, strict=True))
    plain = RatioEstimate(
        n=int(d.size),
        ratio=math.exp(float(d.mean())),
        median_ratio=float(np.median(head / base)),
        ratio_of_medians=float(np.median(head) / np.median(base)),
        pair_ratios=tuple(float(r) for r in head / base),
    )
    if d.size < 2:
        absent = ("interval", "gate_bounds", "distribution_free", "smallest_change", "position_effect")
        return replace(plain, why_null=dict.fromkeys(absent, "one pair has no spread"))
    fit = fit_pairs(d, pairs.head_first)
    sources = known(fit)
    free = signed_rank_interval(d, confidence)
    position = fit.position_effect
    return replace(
        plain,
        ratio=math.exp(float(fit.mean)),
        interval=_interval(fit, sources, (1 - confidence) / 2),
        gate_bounds=_interval(fit, sources, gate_level),
        smallest_change=smallest_change(fit, sources),
        position_effect=None if position is None else math.expm1(float(position)),
        limited_by=_widest(fit, sources, (1 - confidence) / 2),
        why_null=_reasons(free, position is None),
        distribution_free=None if free is None else RatioInterval(math.exp(free.low), math.exp(free.high)),
        distribution_free_ratio=None if free is None else math.exp(free.estimate),
        distribution_free_confidence=None if free is None else free.confidence,
    )


def _counting_variance(pairs: PairSet) -> float:
    """Largest variance of a pair's log ratio that comes from counting whole vector steps in both windows."""
    shares = (((pair.base.edge_share or 0.0), (pair.head.edge_share or 0.0)) for pair in pairs.used)
    return max(((base**2 + head**2) / 12 for base, head in shares), default=0.0)


def _interval(fit: PairedFit, sources: Sequence[VarianceSource], tail: float) -> RatioInterval:
    width, mean = float(half_width(fit, sources, tail)), float(fit.mean)
    return RatioInterval(math.exp(mean - width), math.exp(mean + width))


def _widest(fit: PairedFit, sources: Sequence[VarianceSource], tail: float) -> str:
    widths = {source.name: float(half_width(fit._replace(residual=source), (), tail)) for source in sources}
    widths["pairs"] = float(half_width(fit, (), tail))
    return max(widths, key=lambda name: (widths[name], name == "pairs"))


def _reasons(free: SignedRankInterval | None, no_position: bool) -> dict[str, str]:
    why: dict[str, str] = {}
    if free is None:
        why["distribution_free"] = "signed ranks need at least six pairs for 95 %"
    if no_position:
        why["position_effect"] = "estimated from six pairs on, with at least two of each order"
    return why
