"""Comparing two sides that were not measured in pairs: figures from another tool, or from two bundles.

Without pairs, whatever happened to the machine between the two sides is part of the difference, and no
statistics can take it out again. Every result of this module says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from envdyno.judge.distributions import Floats
from envdyno.judge.estimate import RatioInterval
from envdyno.judge.evidence import UnpairedSide
from envdyno.judge.gate_rule import GateRule, Rule
from envdyno.judge.identity import IdentityMismatch, compare_identity, describe
from envdyno.judge.rank_sum import (
    MedianInterval,
    mann_whitney_p,
    median_interval,
    median_shift,
    shift_interval,
)
from envdyno.judge.reasons import Alarm, Outcome, ReasonCode
from envdyno.judge.summaries import Summary, summarise
from envdyno.judge.verdicts import Verdict
from envdyno.record.counted import counted

__all__ = ["METHOD", "Direction", "UnpairedComparison", "compare_unpaired"]

METHOD = "median of all ratios between the sides (Hodges-Lehmann), interval from Mann-Whitney ranks; unpaired"


class Direction(str, Enum):
    """Which way the head side differs, where the figures show it."""

    FASTER = "faster"
    SLOWER = "slower"
    UNCLEAR = "unclear"
    """The interval holds 1, there is no interval, or the estimates disagree about the direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpairedComparison:
    """Head against base, unpaired. ``None`` where the figures are too few, or may not be compared."""

    base: UnpairedSide
    head: UnpairedSide
    base_summary: Summary
    head_summary: Summary
    base_median: MedianInterval | None
    """95 % interval of the median, from six figures on."""
    head_median: MedianInterval | None
    ratio: float | None
    """Hodges-Lehmann: the median of all ratios between a head and a base figure."""
    interval: RatioInterval | None
    """Two-sided 95 %."""
    ratio_of_medians: float | None
    ratio_of_means: float | None
    """Of geometric means."""
    mann_whitney_p: float | None
    direction: Direction
    outcome: Outcome | None
    """The gate's verdict, if there is a gate or an obstacle."""
    mismatches: tuple[IdentityMismatch, ...] = ()
    baseline_age_s: float | None = None
    """How much older the base side's figures are; ``None`` if either has no time."""
    alarms: tuple[Alarm, ...] = ()
    method: str = METHOD


def compare_unpaired(
    base: UnpairedSide,
    head: UnpairedSide,
    rule: GateRule | None = None,
    declared: Iterable[str] = (),
    *,
    barrier: Outcome | None = None,
    force: bool = False,
) -> UnpairedComparison:
    """Compare two unpaired sides.

    Args:
        base: the reference.
        head: the side that is judged.
        rule: the gate, if a verdict is wanted. Its exceptions are for experiments, and not used here.
        declared: identity fields that may differ.
        barrier: what else makes the sides incomparable, such as different machines.
        force: compare incomparable sides all the same; the result is labelled and has no verdict.
    """
    mismatches = compare_identity(base.identity, head.identity, declared)
    obstacle = _obstacle(base, head, mismatches) or barrier
    forced = force and obstacle is not None and obstacle.verdict is Verdict.INCOMPARABLE
    comparable = obstacle is None or forced
    x, y = (np.log(np.asarray(side.rates if comparable else (), dtype=np.float64)) for side in (base, head))
    shift = shift_interval(x, y) if comparable else None
    interval = None if shift is None else RatioInterval(math.exp(shift.low), math.exp(shift.high))
    centres = _centres(x, y) if comparable else None
    if obstacle is None and rule is not None and centres is not None:
        obstacle = _judge(x, y, centres, rule)
    return UnpairedComparison(
        base=base,
        head=head,
        base_summary=summarise(base.rates),
        head_summary=summarise(head.rates),
        base_median=median_interval(base.rates),
        head_median=median_interval(head.rates),
        ratio=None if centres is None else math.exp(centres[0]),
        interval=interval,
        ratio_of_medians=None if centres is None else math.exp(centres[1]),
        ratio_of_means=None if centres is None else math.exp(centres[2]),
        mann_whitney_p=mann_whitney_p(x, y) if comparable else None,
        direction=_direction(interval, centres),
        outcome=obstacle,
        mismatches=mismatches,
        baseline_age_s=_age(base, head),
        alarms=_alarms(base, head, forced=forced),
    )


def _obstacle(
    base: UnpairedSide, head: UnpairedSide, mismatches: tuple[IdentityMismatch, ...]
) -> Outcome | None:
    for side in (base, head):
        if not side.rates:
            message = side.why_empty or f"{side.name} of {side.source} has no figures of single runs."
            return Outcome(Verdict.NOT_MEASURED, ReasonCode.NO_SAMPLES, message)
        if side.failed:
            message = f"{counted(side.failed, 'run')} of {side.name} of {side.source} failed."
            return Outcome(Verdict.NOT_MEASURED, ReasonCode.RUN_FAILED, message)
    if mismatches:
        message = f"The sides differ in fields that must be equal: {describe(mismatches)}."
        return Outcome(Verdict.INCOMPARABLE, ReasonCode.IDENTITY_DIFFERS, message)
    return None


def _centres(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Log ratios: Hodges-Lehmann, of medians, of geometric means."""
    medians = float(np.log(np.median(np.exp(y)) / np.median(np.exp(x))))
    return median_shift(x, y), medians, float(y.mean() - x.mean())


def _direction(interval: RatioInterval | None, centres: tuple[float, float, float] | None) -> Direction:
    if interval is None or centres is None:
        return Direction.UNCLEAR
    if interval.low > 1 and min(centres) > 0:
        return Direction.FASTER
    if interval.high < 1 and max(centres) < 0:
        return Direction.SLOWER
    return Direction.UNCLEAR


def _judge(x: Floats, y: Floats, centres: tuple[float, float, float], rule: GateRule) -> Outcome:
    gate = math.log(rule.min_ratio)
    if rule.rule is Rule.POINT:
        if math.exp(centres[1]) >= rule.min_ratio:
            return Outcome(Verdict.PASS, ReasonCode.MEDIAN_MEETS_GATE, "The ratio of medians meets the gate.")
        message = "The ratio of medians is below the gate."
        return Outcome(Verdict.FAIL, ReasonCode.MEDIAN_BELOW_GATE, message)
    fewest = min(x.size, y.size)
    bounds = shift_interval(x, y, rule.alpha)
    if bounds is None or fewest < rule.min_pairs:
        message = f"The smaller side has {fewest} figures; a verdict needs {max(3, rule.min_pairs)} on each."
        return Outcome(Verdict.UNDECIDED, ReasonCode.TOO_FEW_PAIRS, message)
    if min(centres) < gate <= max(centres):
        message = "Hodges-Lehmann estimate, medians and means lie on both sides of the gate."
        return Outcome(Verdict.UNDECIDED, ReasonCode.ESTIMATORS_DISAGREE, message)
    if bounds.low >= gate:
        return Outcome(Verdict.PASS, ReasonCode.LOWER_BOUND_MEETS_GATE, "The lower bound meets the gate.")
    if bounds.high < gate:
        return Outcome(Verdict.FAIL, ReasonCode.UPPER_BOUND_BELOW_GATE, "The upper bound is below the gate.")
    message = "The interval of the ratio spans the gate; more figures on both sides would narrow it."
    return Outcome(Verdict.UNDECIDED, ReasonCode.INTERVAL_SPANS_GATE, message)


def _age(base: UnpairedSide, head: UnpairedSide) -> float | None:
    if base.measured_at_s is None or head.measured_at_s is None:
        return None
    return head.measured_at_s - base.measured_at_s


def _alarms(base: UnpairedSide, head: UnpairedSide, *, forced: bool) -> tuple[Alarm, ...]:
    message = f"{base.name} and {head.name} were not measured in pairs: a drift between them is in the ratio."
    alarms = [Alarm(ReasonCode.UNPAIRED, message)]
    if forced:
        alarms.append(Alarm(ReasonCode.FORCED, "Incomparable sides were compared on request."))
    return tuple(alarms)
