"""From a bundle to its verdicts: the judge's functions put together for one experiment.

The same bundle, gate and day give the same verdicts everywhere, for all that they rest on is in the bundle,
the machine's noise floors of the time included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone

from pydantic import ValidationError

from envdyno.judge.attribution import Attribution, Clock, attribute
from envdyno.judge.evidence import ExperimentEvidence
from envdyno.judge.from_records import experiment_evidence
from envdyno.judge.gate import GateReport, gate
from envdyno.judge.gate_rule import GateException, GateRule
from envdyno.judge.looks import LookSchedule
from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.sections import GateSection
from envdyno.record.bundle import BundleError
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.fault_text import fault_text
from envdyno.record.run_record import RunRecord


@dataclass(frozen=True)
class Judgement:
    """One side against the base."""

    other: str
    evidence: ExperimentEvidence
    report: GateReport
    attributions: tuple[Attribution, ...]


def plan_of(head: ExperimentRecord) -> ExperimentPlan:
    """Return the plan of an experiment.

    Raises:
        BundleError: what the bundle holds is no plan.
    """
    try:
        return ExperimentPlan.model_validate(head.plan)
    except ValidationError as error:
        raise BundleError(f"The plan in the bundle cannot be used. {fault_text(error)}") from error


def judge_experiment(
    head: ExperimentRecord, records: Sequence[RunRecord], gate_section: GateSection | None, *, today: date
) -> list[Judgement]:
    """Judge every side of an experiment against its first one; a sweep has no other.

    Args:
        head: the head of the bundle.
        records: all records of it.
        gate_section: the gate. ``None`` takes the usual one for the figures, and allows uncommitted changes,
            for nothing is decided by it.
        today: decides which exceptions have expired.

    Raises:
        BundleError: head and records do not fit together.
    """
    plan = plan_of(head)
    if plan.sweep is not None:
        return []
    if len(head.sides) < 2:
        raise BundleError("The bundle does not fit together: an experiment has two sides or more.")
    rule = gate_rule(gate_section or GateSection(allow_dirty=True))
    schedule = look_schedule(plan)
    try:
        base, *others = [side.name for side in head.sides]
        floors = NoiseFloors(tuple(NoiseFloor(**body) for body in head.noise_floors))
        return [
            _judge(experiment_evidence(head, records, base, other), other, rule, floors, schedule, today)
            for other in others
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise BundleError(f"The bundle does not fit together: {error!r}.") from error


def _judge(
    evidence: ExperimentEvidence,
    other: str,
    rule: GateRule,
    floors: NoiseFloors,
    schedule: LookSchedule | None,
    today: date,
) -> Judgement:
    expected = tuple(case.case for case in evidence.cases)
    report = gate(evidence, rule, today=today, floors=floors, schedule=schedule, expected_cases=expected)
    found = [attribute(case, clock, rule.canary_limit) for case in evidence.cases for clock in Clock]
    return Judgement(other, evidence, report, tuple(one for one in found if one is not None))


def decided_cases(
    head: ExperimentRecord, records: Sequence[RunRecord], gate_section: GateSection | None
) -> Mapping[str, str]:
    """Return the cases that no further pair would change, and why in a sentence each."""
    reports = [one.report for one in judge_experiment(head, records, gate_section, today=today())]
    wanted = {case for report in reports for case in report.wants_pairs}
    decided: dict[str, list[str]] = {}
    for report in reports:
        for case in report.cases:
            decided.setdefault(case.case, []).append(f"{case.verdict.name} ({case.code.name})")
    return {
        case: f"No further pair is needed: the verdict is {' and '.join(dict.fromkeys(verdicts))}."
        for case, verdicts in decided.items()
        if case not in wanted
    }


def today() -> date:
    """Return the day in UTC, by which exceptions expire everywhere at the same moment."""
    return datetime.now(timezone.utc).date()


def gate_rule(section: GateSection) -> GateRule:
    """Return a plan's gate as the judge takes it."""
    return GateRule(
        min_ratio=section.min_ratio,
        rule=section.rule,
        alpha=section.alpha,
        max_plausible_gain=section.max_plausible_gain,
        canary_limit=section.canary_limit,
        allow_dirty=section.allow_dirty,
        exceptions=tuple(
            GateException(
                case=one.case,
                min_ratio=one.min_ratio,
                reason=one.reason,
                owner=one.owner,
                expires=one.expires,
            )
            for one in section.exceptions
        ),
    )


def look_schedule(plan: ExperimentPlan) -> LookSchedule | None:
    """Return the looks that an experiment was planned with; ``None`` for a fixed number of pairs."""
    pairs = plan.experiment.pairs
    if pairs.minimum == pairs.maximum:
        return None
    return LookSchedule.adaptive(pairs.minimum, pairs.maximum)
