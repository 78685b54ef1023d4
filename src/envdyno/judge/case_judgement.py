"""Everything that the verdict on a case depends on, worked out for all cases of an experiment together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from envdyno.judge.case_alarms import drift_alarms
from envdyno.judge.estimate import RatioEstimate, estimate_ratio, known_noise
from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, RunOrder
from envdyno.judge.gate_rule import GateException, GateRule
from envdyno.judge.looks import LookSchedule
from envdyno.judge.multiplicity import holm
from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors
from envdyno.judge.obstacles import case_obstacle
from envdyno.judge.paired_ratio import PairedFit, VarianceSource, fit_pairs
from envdyno.judge.pairing import PairSet, pairs_of
from envdyno.judge.reasons import Alarm, Outcome, ReasonCode
from envdyno.judge.sequence import sequence_p_values
from envdyno.judge.variance_sources import NoisePrior, prior_from_cases
from envdyno.judge.verdicts import Verdict
from envdyno.judge.work import WorkComparison, compare_work

__all__ = ["ExaminedCase", "JudgedCase", "examine", "judge_cases"]

_DRIFTS = {ReasonCode.MACHINE_TREND, ReasonCode.BATCH_SHIFT}


class ExaminedCase(NamedTuple):
    """One case before any statistics."""

    evidence: CaseEvidence
    pairs: PairSet
    work: WorkComparison
    obstacle: Outcome | None
    """The verdict, where it is fixed already."""
    drift_alarms: tuple[Alarm, ...]


class JudgedCase(NamedTuple):
    """The statistics of one case."""

    name: str
    estimate: RatioEstimate
    fit: PairedFit
    sources: Sequence[VarianceSource]
    p_below: float
    """For "below the bound", over all looks, before Holm's correction."""
    p_below_corrected: float
    p_meets: float
    """For "at or above the bound", over all looks."""
    min_ratio: float
    schedule: LookSchedule
    floor: NoiseFloor | None
    work: WorkComparison
    order: RunOrder
    drifted: bool
    """There is an alarm that the machine drifted."""


def examine(evidence: CaseEvidence, rule: GateRule, barrier: Outcome | None) -> ExaminedCase:
    """Pair the runs of a case and see whether anything keeps it from being judged.

    Args:
        evidence: the case.
        rule: the gate.
        barrier: what makes the whole experiment incomparable, if anything does. That nothing was measured
            is told first.
    """
    pairs = pairs_of(evidence, rule.metric, enough=rule.min_pairs, canary_limit=rule.canary_limit)
    work = compare_work(evidence)
    obstacle = case_obstacle(evidence, pairs, work, rule)
    if barrier is not None and (obstacle is None or obstacle.verdict is not Verdict.NOT_MEASURED):
        obstacle = barrier
    return ExaminedCase(evidence, pairs, work, obstacle, drift_alarms(evidence, pairs, rule))


def judge_cases(
    cases: Sequence[ExaminedCase],
    evidence: ExperimentEvidence,
    rule: GateRule,
    floors: NoiseFloors,
    schedule: LookSchedule | None,
    exceptions: Mapping[str, GateException],
) -> dict[str, JudgedCase]:
    """The statistics of all cases without an obstacle, with Holm's correction over them."""
    open_cases = [case for case in cases if case.obstacle is None]
    others = _prior_from_others(open_cases, rule)
    judged = []
    for case in open_cases:
        name = case.evidence.case
        exception = exceptions.get(name)
        min_ratio = rule.min_ratio if exception is None else exception.min_ratio
        floor = floors.find(evidence.machine, name)
        judged.append(_judge(case, evidence.order, rule, min_ratio, floor, others, schedule))
    corrected = holm([case.p_below for case in judged])
    return {case.name: case._replace(p_below_corrected=p) for case, p in zip(judged, corrected, strict=True)}


def _judge(
    case: ExaminedCase,
    order: RunOrder,
    rule: GateRule,
    min_ratio: float,
    floor: NoiseFloor | None,
    others: NoisePrior | None,
    planned: LookSchedule | None,
) -> JudgedCase:
    d, head_first = case.pairs.log_ratios(rule.metric), case.pairs.head_first
    schedule = planned or LookSchedule.once(d.size)
    looks = schedule.reached(d.size)
    priors = [prior for prior in (floor.prior() if floor else None, others) if prior is not None]
    known = known_noise(priors, case.pairs)
    p = sequence_p_values(d, head_first, math.log(min_ratio), looks, known)
    share = looks[-1].share if looks else schedule.looks[0].share
    estimate = estimate_ratio(case.pairs, known, rule.metric, gate_level=rule.alpha * share)
    if estimate is None:
        raise AssertionError("a case that nothing keeps from being judged has pairs")
    fit = fit_pairs(d, head_first)
    return JudgedCase(
        name=case.evidence.case,
        estimate=estimate,
        fit=fit,
        sources=known(fit),
        p_below=float(p.below),
        p_below_corrected=float(p.below),
        p_meets=float(p.meets),
        min_ratio=min_ratio,
        schedule=schedule,
        floor=floor,
        work=case.work,
        order=order,
        drifted=any(alarm.code in _DRIFTS for alarm in case.drift_alarms),
    )


def _prior_from_others(cases: Sequence[ExaminedCase], rule: GateRule) -> NoisePrior | None:
    fits = [fit_pairs(case.pairs.log_ratios(rule.metric), case.pairs.head_first).residual for case in cases]
    return prior_from_cases([float(fit.variance) for fit in fits], [fit.df for fit in fits])
