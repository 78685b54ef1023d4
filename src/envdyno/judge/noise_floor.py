"""A/A: the same software on both sides shows what the machine does to a ratio when nothing has changed.

A noise floor belongs to one case on one machine, told by the key of its fingerprint. It says beforehand which
gates can be asked of that machine, and afterwards it widens an interval that came out narrow by luck.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from envdyno.judge.distributions import student_quantile
from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, Metric
from envdyno.judge.paired_ratio import fit_pairs, half_width
from envdyno.judge.pairing import pairs_of
from envdyno.judge.reasons import Alarm, ReasonCode
from envdyno.judge.resolution import as_change, detectable_log_ratio
from envdyno.judge.variance_sources import NoisePrior, least_spread

__all__ = ["NoiseFloor", "NoiseFloors", "measure_noise_floors", "noise_floor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """How much the ratio of equal sides varies, for one case on one machine."""

    machine: str
    """Key of the machine's fingerprint."""
    case: str
    pairs: int
    """Over all A/A experiments that went into it."""
    sd_log_ratio: float
    """Standard deviation of a single pair's log ratio."""
    df: float
    bias_log_ratio: float
    """Mean log ratio; zero but for noise if the sides are treated alike."""
    bias_half_width: float
    """Half width of its two-sided 95 % interval."""

    @property
    def is_biased(self) -> bool:
        """Whether equal sides came out different by more than noise."""
        return abs(self.bias_log_ratio) > self.bias_half_width

    def smallest_change(self, pairs: int) -> float:
        """The smallest loss that so many pairs can show here, as a fraction, with four chances in five.

        A bias is part of what cannot be told from a change.
        """
        bias = abs(self.bias_log_ratio) if self.is_biased else 0.0
        return as_change(detectable_log_ratio(self.sd_log_ratio, pairs) + bias)

    def refuses(self, min_ratio: float, pairs: int) -> bool:
        """Whether a gate is tighter than what so many pairs can show on this machine."""
        return as_change(math.log(min_ratio)) < self.smallest_change(pairs)

    def prior(self) -> NoisePrior:
        """What the floor says about the variance of a pair's log ratio."""
        return NoisePrior("noise_floor", self.sd_log_ratio**2, self.df)

    def alarm(self) -> Alarm | None:
        """The alarm that the sides are not treated alike, if they are not."""
        if not self.is_biased:
            return None
        change = math.expm1(self.bias_log_ratio)
        return Alarm(
            ReasonCode.AA_BIASED,
            f"With the same software on both sides of {self.case}, head came out {change:+.1%} against base.",
            self.case,
            change,
        )


@dataclass(frozen=True, slots=True)
class NoiseFloors:
    """The noise floors that are known, of any number of machines and cases."""

    floors: tuple[NoiseFloor, ...] = ()

    def find(self, machine: str | None, case: str) -> NoiseFloor | None:
        """The floor of a case on a machine; never that of another machine."""
        return next((f for f in self.floors if f.machine == machine and f.case == case), None)

    def merged_with(self, others: Iterable[NoiseFloor]) -> NoiseFloors:
        """These floors and others, pooled where both know the same case on the same machine."""
        known = {(floor.machine, floor.case): floor for floor in self.floors}
        for floor in others:
            key = (floor.machine, floor.case)
            known[key] = _pooled(known[key], floor) if key in known else floor
        return NoiseFloors(tuple(known[key] for key in sorted(known)))


def noise_floor(
    evidence: CaseEvidence, machine: str, metric: Metric = Metric.TRANSITIONS_PER_S
) -> NoiseFloor | None:
    """The noise floor from the pairs of one A/A case, or ``None`` with fewer than two complete pairs."""
    pairs = pairs_of(evidence, metric)
    if len(pairs.used) < 2:
        return None
    fit = fit_pairs(pairs.log_ratios(metric), pairs.head_first)
    sd = math.sqrt(max(float(fit.residual.variance), float(least_spread().variance)))
    return NoiseFloor(
        machine=machine,
        case=evidence.case,
        pairs=fit.n,
        sd_log_ratio=sd,
        df=fit.residual.df,
        bias_log_ratio=float(fit.mean),
        bias_half_width=float(half_width(fit, [least_spread()], 0.025)),
    )


def measure_noise_floors(evidence: ExperimentEvidence) -> NoiseFloors:
    """The floors of all cases of an A/A experiment.

    Raises:
        ValueError: the experiment is no A/A experiment, or its machine is not known.
    """
    if not evidence.is_aa:
        raise ValueError("A noise floor comes from an A/A experiment, with the same software on both sides.")
    if evidence.machine is None:
        raise ValueError(
            "A noise floor belongs to a machine, and this experiment has no machine fingerprint."
        )
    found = (noise_floor(case, evidence.machine) for case in evidence.cases)
    return NoiseFloors(tuple(floor for floor in found if floor is not None))


def _pooled(one: NoiseFloor, other: NoiseFloor) -> NoiseFloor:
    """Two A/A experiments on different days as one: their difference is noise too."""
    pairs = one.pairs + other.pairs
    mean = (one.pairs * one.bias_log_ratio + other.pairs * other.bias_log_ratio) / pairs
    between = one.pairs * (one.bias_log_ratio - mean) ** 2 + other.pairs * (other.bias_log_ratio - mean) ** 2
    within = one.df * one.sd_log_ratio**2 + other.df * other.sd_log_ratio**2
    df = one.df + other.df + 1
    sd = math.sqrt((within + between) / df)
    return NoiseFloor(
        machine=one.machine,
        case=one.case,
        pairs=pairs,
        sd_log_ratio=sd,
        df=df,
        bias_log_ratio=mean,
        bias_half_width=student_quantile(0.025, df) * sd / math.sqrt(pairs),
    )
