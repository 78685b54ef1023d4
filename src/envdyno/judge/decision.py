"""Which verdict a judged case gets, in the order in which reasons take precedence."""

from __future__ import annotations

import math

import numpy as np

from envdyno.judge.case_judgement import JudgedCase
from envdyno.judge.distribution_free import hodges_lehmann
from envdyno.judge.evidence import RunOrder
from envdyno.judge.gate_rule import GateRule, Rule
from envdyno.judge.reasons import Outcome, ReasonCode
from envdyno.judge.resolution import as_change, detectable_log_ratio, more_pairs
from envdyno.judge.sequence import shows_below, shows_meets
from envdyno.judge.verdicts import Verdict
from envdyno.record.counted import counted

__all__ = ["decide"]

_WORTH_TELLING = 0.01
"""Estimates of the log ratio that differ by less agree, on whatever side of the gate they lie."""


def decide(case: JudgedCase, rule: GateRule) -> Outcome:
    """The verdict, its reason and a sentence."""
    gain = _implausible(case, rule)
    if gain is not None:
        return gain
    if case.order is RunOrder.BLOCKED and case.drifted:
        message = f"The machine drifted while {case.name} was measured in blocked order."
        return Outcome(Verdict.UNDECIDED, ReasonCode.DRIFT_IN_BLOCKED_ORDER, message)
    return _by_point(case) if rule.rule is Rule.POINT else _by_interval(case, rule)


def _implausible(case: JudgedCase, rule: GateRule) -> Outcome | None:
    interval = case.estimate.interval
    if case.work.shown_same or interval is None or interval.low <= rule.max_plausible_gain:
        return None
    message = (
        f"{case.name} became {case.estimate.ratio:.2f} times as fast, beyond the plausible "
        f"{rule.max_plausible_gain:g}, and nothing shows that both sides did the same work."
    )
    return Outcome(Verdict.INCOMPARABLE, ReasonCode.IMPLAUSIBLE_GAIN, message)


def _by_point(case: JudgedCase) -> Outcome:
    ratio, bound = case.estimate.median_ratio, case.min_ratio
    if ratio >= bound:
        message = f"The median ratio {ratio:.3f} is at or above {bound:g}."
        return Outcome(Verdict.PASS, ReasonCode.MEDIAN_MEETS_GATE, message)
    return Outcome(
        Verdict.FAIL, ReasonCode.MEDIAN_BELOW_GATE, f"The median ratio {ratio:.3f} is below {bound:g}."
    )


def _by_interval(case: JudgedCase, rule: GateRule) -> Outcome:
    below = bool(shows_below(case.p_below_corrected, rule.alpha))
    meets = bool(shows_meets(case.p_meets, rule.alpha))
    ratio, bound = case.estimate.ratio, case.min_ratio
    if below and meets:
        message = f"Looks at different numbers of pairs show opposite verdicts for {case.name}."
        return Outcome(Verdict.UNDECIDED, ReasonCode.LOOKS_DISAGREE, message)
    if below:
        message = f"The ratio {ratio:.3f} is below {bound:g}, beyond what noise explains."
        return Outcome(Verdict.FAIL, ReasonCode.UPPER_BOUND_BELOW_GATE, message)
    refused = _refusal(case)
    if refused is not None:
        return refused
    if meets:
        message = f"The ratio {ratio:.3f} meets {bound:g}, beyond what noise explains."
        return Outcome(Verdict.PASS, ReasonCode.LOWER_BOUND_MEETS_GATE, message)
    return _undecided(case, rule)


def _refusal(case: JudgedCase) -> Outcome | None:
    if case.floor is None:
        return None
    pairs = _most_planned(case)
    if not case.floor.refuses(case.min_ratio, pairs):
        return None
    message = (
        f"The gate asks about a change of {as_change(math.log(case.min_ratio)):.1%}, and the smallest that "
        f"{counted(pairs, 'pair')} can show for {case.name} on this machine is "
        f"{case.floor.smallest_change(pairs):.1%}."
    )
    return Outcome(Verdict.UNDECIDED, ReasonCode.GATE_TIGHTER_THAN_NOISE, message)


def _undecided(case: JudgedCase, rule: GateRule) -> Outcome:
    if bool(shows_below(case.p_below, rule.alpha)):
        message = f"{case.name} is below {case.min_ratio:g} by itself, not after Holm's correction."
        return Outcome(Verdict.UNDECIDED, ReasonCode.NOT_AFTER_CORRECTION, message)
    if _centres_disagree(case):
        message = f"Mean, median and Hodges-Lehmann estimate of {case.name} lie on both sides of the gate."
        return Outcome(Verdict.UNDECIDED, ReasonCode.ESTIMATORS_DISAGREE, message)
    more = more_pairs(case.fit, case.sources, math.log(case.min_ratio), rule.alpha)
    hidden = _hidden_by_noise(case, rule)
    if hidden is not None:
        advice = "" if more is None else f"; about {counted(more, 'more pair')} would do"
        return Outcome(Verdict.UNDECIDED, ReasonCode.NOISE_TOO_LARGE, f"{hidden}{advice}.")
    if more is None:
        message = (
            f"The ratio {case.estimate.ratio:.3f} is too close to {case.min_ratio:g} to be told from it."
        )
        return Outcome(Verdict.UNDECIDED, ReasonCode.RATIO_AT_GATE, message)
    message = (
        f"The interval of the ratio spans {case.min_ratio:g}; about {counted(more, 'more pair')} would "
        "decide it."
    )
    return Outcome(Verdict.UNDECIDED, ReasonCode.INTERVAL_SPANS_GATE, message)


def _most_planned(case: JudgedCase) -> int:
    return max(case.schedule.maximum, case.fit.n)


def _hidden_by_noise(case: JudgedCase, rule: GateRule) -> str | None:
    """That even the planned number of pairs cannot show a change as small as the gate's, if it is so."""
    variance = max(float(source.variance) for source in (case.fit.residual, *case.sources))
    shown = detectable_log_ratio(math.sqrt(variance), _most_planned(case), rule.alpha)
    margin = abs(math.log(case.min_ratio))
    if not 0 < margin < shown:
        return None
    return (
        f"The noise of {case.name} hides changes below {as_change(shown):.1%} at "
        f"{counted(_most_planned(case), 'pair')}, and the gate asks about {as_change(margin):.1%}"
    )


def _centres_disagree(case: JudgedCase) -> bool:
    d = np.log(np.asarray(case.estimate.pair_ratios))
    centres = (float(case.fit.mean), float(np.median(d)), float(hodges_lehmann(d)))
    return (
        min(centres) < math.log(case.min_ratio) <= max(centres)
        and max(centres) - min(centres) > _WORTH_TELLING
    )
