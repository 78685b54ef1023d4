"""From the evidence of an experiment to its verdicts: what ``envdyno gate`` prints.

Pure: the same evidence, rule, floors, schedule and day always give the same report, so that a bundle can be
judged again by anybody, without measuring.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from envdyno.judge.case_judgement import examine, judge_cases
from envdyno.judge.case_verdict import CaseVerdict, verdict_of
from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, RunOrder
from envdyno.judge.gate_rule import GateException, GateRule, Rule, SortedExceptions, sort_exceptions
from envdyno.judge.looks import LookSchedule
from envdyno.judge.noise_floor import NoiseFloors
from envdyno.judge.obstacles import experiment_obstacle
from envdyno.judge.one_sided import common_move
from envdyno.judge.reasons import Alarm, ReasonCode
from envdyno.judge.verdicts import ExitCode, Verdict, exit_code, overall
from envdyno.record.counted import counted

__all__ = ["GateReport", "confirm", "gate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The verdicts of one experiment."""

    verdict: Verdict
    rule: GateRule
    cases: tuple[CaseVerdict, ...]
    """In the order of the evidence; cases that were expected and are missing come last."""
    expired: tuple[GateException, ...] = ()
    """Exceptions that were in the way of PASS because their day is over."""
    unmatched: tuple[GateException, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    """Those of the whole experiment; each case has its own beside."""

    @property
    def exit_code(self) -> ExitCode:
        """The process's exit code."""
        return exit_code(self.verdict)

    @property
    def enforced(self) -> tuple[str, ...]:
        """Cases on which the gate had a say."""
        idle = {Verdict.INCOMPARABLE, Verdict.NOT_MEASURED}
        return tuple(case.case for case in self.cases if case.verdict not in idle)

    @property
    def not_enforced(self) -> tuple[str, ...]:
        """Cases on which it had none, which therefore did not pass."""
        return tuple(case.case for case in self.cases if case.case not in self.enforced)

    @property
    def wants_pairs(self) -> tuple[str, ...]:
        """Cases for which more pairs are planned and could still decide something."""
        return tuple(case.case for case in self.cases if case.next_look_at is not None)


def gate(
    evidence: ExperimentEvidence,
    rule: GateRule,
    *,
    today: date,
    floors: NoiseFloors | None = None,
    schedule: LookSchedule | None = None,
    expected_cases: Iterable[str] = (),
) -> GateReport:
    """Judge an experiment.

    Args:
        evidence: what was measured.
        rule: the gate.
        today: decides which exceptions have expired.
        floors: noise floors from A/A experiments; that of this machine and case is used, no other.
        schedule: the looks that were planned, if pairs are added until a case is decided. Without one, the
            pairs that are there count as a number fixed beforehand.
        expected_cases: cases that must be there; one that is not is NOT_MEASURED.
    """
    missing = [CaseEvidence(case=name) for name in expected_cases if evidence.case(name) is None]
    barrier = experiment_obstacle(evidence, rule)
    cases = [examine(case, rule, barrier) for case in (*evidence.cases, *missing)]
    exceptions = sort_exceptions(rule, (case.evidence.case for case in cases), today)
    judged = judge_cases(cases, evidence, rule, floors or NoiseFloors(), schedule, exceptions.in_force)
    verdicts = tuple(
        verdict_of(
            case,
            judged.get(case.evidence.case),
            rule,
            exceptions.in_force.get(case.evidence.case),
            schedule,
        )
        for case in cases
    )
    failed_entry = [Verdict.FAIL] if exceptions.expired else []
    return GateReport(
        verdict=overall([*(case.verdict for case in verdicts), *failed_entry]),
        rule=rule,
        cases=verdicts,
        expired=exceptions.expired,
        unmatched=exceptions.unmatched,
        alarms=(*_rule_alarms(evidence, rule), *_exception_alarms(exceptions), *_common_alarm(verdicts)),
    )


def confirm(first: GateReport, second: GateReport) -> GateReport:
    """The first report, with its failures kept only where a second experiment failed in the same case.

    Among many cases some fail by chance, and other ones each time. What fails twice, in the same case and by
    the same metric, does not do so by chance.

    Raises:
        ValueError: the reports are by different metrics.
    """
    if first.rule.metric is not second.rule.metric:
        raise ValueError(
            f"A failure by {first.rule.metric.value} cannot be confirmed by {second.rule.metric.value}."
        )
    again = {case.case for case in second.cases if case.verdict is Verdict.FAIL}
    cases = tuple(case if case.case in again else _unconfirmed(case) for case in first.cases)
    failed_entry = [Verdict.FAIL] if first.expired else []
    verdict = overall([*(case.verdict for case in cases), *failed_entry])
    return replace(first, verdict=verdict, cases=cases)


def _unconfirmed(case: CaseVerdict) -> CaseVerdict:
    if case.verdict is not Verdict.FAIL:
        return case
    return replace(
        case,
        verdict=Verdict.UNDECIDED,
        code=ReasonCode.NOT_CONFIRMED,
        message=f"{case.case} failed in the first experiment and not in the second.",
    )


def _rule_alarms(evidence: ExperimentEvidence, rule: GateRule) -> tuple[Alarm, ...]:
    alarms = []
    if evidence.order is RunOrder.BLOCKED:
        alarms.append(Alarm(ReasonCode.BLOCKED_ORDER, "The sides were run in blocks, not in pairs."))
    if rule.rule is Rule.POINT:
        message = "Judged by the plain rule: median against gate, without regard to noise."
        alarms.append(Alarm(ReasonCode.POINT_RULE, message))
    return tuple(alarms)


def _exception_alarms(exceptions: SortedExceptions) -> tuple[Alarm, ...]:
    expired = (
        Alarm(
            ReasonCode.EXCEPTION_EXPIRED,
            f"The exception for {entry.case} ({entry.owner}: {entry.reason}) ended on {entry.expires}.",
            entry.case,
        )
        for entry in exceptions.expired
    )
    unmatched = (
        Alarm(
            ReasonCode.EXCEPTION_UNMATCHED,
            f"The exception for {entry.case} ({entry.metric.value}) matches no case of this experiment.",
            entry.case,
        )
        for entry in exceptions.unmatched
    )
    return (*expired, *unmatched)


def _common_alarm(verdicts: Sequence[CaseVerdict]) -> tuple[Alarm, ...]:
    intervals = [
        (math.log(case.estimate.ratio), math.log(case.estimate.interval.high / case.estimate.ratio))
        for case in verdicts
        if case.estimate is not None and case.estimate.interval is not None
    ]
    move = common_move([ratio for ratio, _ in intervals], [width for _, width in intervals])
    if move is None:
        return ()
    message = (
        f"All {counted(move.cases, 'case')} moved alike, by {move.ratio - 1:+.1%}: look at the host before "
        "the code."
    )
    return (Alarm(ReasonCode.ONE_SIDED, message, None, move.ratio - 1),)
