"""The verdict on one case, with all that a report needs to explain it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from envdyno.judge.case_alarms import interval_alarm, run_alarms, work_alarms
from envdyno.judge.case_judgement import ExaminedCase, JudgedCase
from envdyno.judge.decision import decide
from envdyno.judge.estimate import RatioEstimate, estimate_ratio, known_noise
from envdyno.judge.evidence import Metric, Side
from envdyno.judge.gate_rule import GateException, GateRule
from envdyno.judge.hardware_change import HardwareChange, hardware_changes
from envdyno.judge.looks import LookSchedule
from envdyno.judge.noise_floor import NoiseFloor
from envdyno.judge.pairing import PairSet, pairs_of
from envdyno.judge.reasons import Alarm, Outcome, ReasonCode
from envdyno.judge.resolution import more_pairs
from envdyno.judge.summaries import Summary, summarise
from envdyno.judge.verdicts import Verdict
from envdyno.judge.work import WorkComparison

__all__ = ["CaseVerdict", "verdict_of"]

_MORE_PAIRS_MAY_HELP = {
    ReasonCode.ALL_PAIRS_VOID,
    ReasonCode.ESTIMATORS_DISAGREE,
    ReasonCode.INTERVAL_SPANS_GATE,
    ReasonCode.NOISE_TOO_LARGE,
    ReasonCode.NOT_AFTER_CORRECTION,
    ReasonCode.RATIO_AT_GATE,
    ReasonCode.TOO_FEW_PAIRS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """The verdict on one case, and all that a report needs to explain it."""

    case: str
    verdict: Verdict
    code: ReasonCode
    message: str
    min_ratio: float
    """The bound that this case was held against: the gate's, or its exception's."""
    exception: GateException | None = None
    """The exception that set the bound, whether or not it made a difference."""
    estimate: RatioEstimate | None = None
    base: Summary
    """The base side's rates in the pairs that count."""
    head: Summary
    pairs: PairSet
    cpu_estimate: RatioEstimate | None = None
    """The ratio in transitions per CPU second, to be read beside; ``None`` where that was not measured."""
    noise_floor: NoiseFloor | None = None
    """What an A/A experiment found for this case on this machine, if there was one."""
    p_below: float | None = None
    """For "below the bound", over all looks, before Holm's correction."""
    p_below_corrected: float | None = None
    p_meets: float | None = None
    more_pairs: int | None = None
    """About how many more pairs would decide it; ``None`` if it is decided, or if no number would."""
    next_look_at: int | None = None
    """Where pairs may still be added: the number of pairs at which to judge again."""
    work: WorkComparison
    hardware: tuple[HardwareChange, ...] = ()
    """What the processor counted on both sides: context, no part of the verdict."""
    alarms: tuple[Alarm, ...] = ()


def verdict_of(
    case: ExaminedCase,
    judged: JudgedCase | None,
    rule: GateRule,
    exception: GateException | None,
    schedule: LookSchedule | None,
) -> CaseVerdict:
    """The verdict on one case.

    Args:
        case: the case and its obstacle, if it has one.
        judged: its statistics, if it has none.
        rule: the gate.
        exception: the one in force for this case.
        schedule: the looks that were planned, if any.
    """
    outcome = _outcome(case, judged, rule)
    estimate = (
        judged.estimate if judged else estimate_ratio(case.pairs, known_noise((), case.pairs), rule.metric)
    )
    base, head = (_summary(case, side, rule) for side in Side)
    undecided = outcome.verdict is Verdict.UNDECIDED
    return CaseVerdict(
        case=case.evidence.case,
        verdict=outcome.verdict,
        code=outcome.code,
        message=outcome.message,
        min_ratio=rule.min_ratio if exception is None else exception.min_ratio,
        exception=exception,
        estimate=estimate,
        base=base,
        head=head,
        pairs=case.pairs,
        cpu_estimate=_cpu_estimate(case, rule),
        noise_floor=judged.floor if judged else None,
        p_below=judged.p_below if judged else None,
        p_below_corrected=judged.p_below_corrected if judged else None,
        p_meets=judged.p_meets if judged else None,
        more_pairs=_advice(judged, rule) if judged and undecided else None,
        next_look_at=_next_look(case, outcome, schedule),
        work=case.work,
        hardware=hardware_changes(case.pairs),
        alarms=_alarms(case, estimate, outcome, rule, exception),
    )


def _outcome(case: ExaminedCase, judged: JudgedCase | None, rule: GateRule) -> Outcome:
    if case.obstacle is not None:
        return case.obstacle
    if judged is None:
        raise AssertionError("a case that nothing keeps from being judged has been judged")
    return decide(judged, rule)


def _cpu_estimate(case: ExaminedCase, rule: GateRule) -> RatioEstimate | None:
    metric = Metric.TRANSITIONS_PER_CPU_S
    pairs = pairs_of(case.evidence, metric, enough=rule.min_pairs, canary_limit=rule.canary_limit)
    return estimate_ratio(pairs, known_noise((), pairs), metric)


def _summary(case: ExaminedCase, side: Side, rule: GateRule) -> Summary:
    runs = [pair.base if side is Side.BASE else pair.head for pair in case.pairs.used]
    rates = [rate for run in runs if (rate := run.rate(rule.metric)) is not None]
    return summarise(rates, planned=len(case.pairs.used) + len(case.pairs.unused))


def _advice(judged: JudgedCase, rule: GateRule) -> int | None:
    return more_pairs(judged.fit, judged.sources, math.log(judged.min_ratio), rule.alpha)


def _next_look(case: ExaminedCase, outcome: Outcome, schedule: LookSchedule | None) -> int | None:
    if schedule is None or outcome.code not in _MORE_PAIRS_MAY_HELP:
        return None
    look = schedule.next_after(len(case.pairs.used))
    return None if look is None else look.pairs


def _alarms(
    case: ExaminedCase,
    estimate: RatioEstimate | None,
    outcome: Outcome,
    rule: GateRule,
    exception: GateException | None,
) -> tuple[Alarm, ...]:
    name = case.evidence.case
    alarms = [*case.drift_alarms, *run_alarms(case.evidence, case.pairs), *work_alarms(name, case.work)]
    if estimate is None:
        return tuple(alarms)
    bound = rule.min_ratio if exception is None else exception.min_ratio
    disagreement = interval_alarm(name, estimate, bound)
    if disagreement is not None:
        alarms.append(disagreement)
    bounds = estimate.gate_bounds
    if exception is not None and outcome.verdict is Verdict.PASS and bounds and bounds.low >= rule.min_ratio:
        message = f"{name} meets the gate's {rule.min_ratio:g} without its exception."
        alarms.append(Alarm(ReasonCode.EXCEPTION_NOT_NEEDED, message, name))
    return tuple(alarms)
