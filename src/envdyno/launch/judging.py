"""From a bundle to its verdicts: the judge's functions put together for one experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

from envdyno.judge.attribution import Attribution, Clock, attribute
from envdyno.judge.evidence import ExperimentEvidence
from envdyno.judge.from_records import experiment_evidence
from envdyno.judge.gate import GateReport, gate
from envdyno.judge.gate_rule import GateException, GateRule, Rule
from envdyno.judge.looks import LookSchedule
from envdyno.judge.noise_floor import NoiseFloors
from envdyno.plan.quantities import parse_pairs
from envdyno.plan.sections import GateSection
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord


@dataclass(frozen=True)
class Judgement:
    """One side against the base."""

    other: str
    evidence: ExperimentEvidence
    report: GateReport
    attributions: tuple[Attribution, ...]


def judge_experiment(
    head: ExperimentRecord,
    records: Sequence[RunRecord],
    gate_section: GateSection | None,
    *,
    floors: NoiseFloors,
    today: date,
) -> list[Judgement]:
    """Judge every side of an experiment against its first one.

    Args:
        head: the head of the bundle.
        records: all records of it.
        gate_section: the gate; ``None`` takes the usual one, for the figures.
        floors: known noise floors.
        today: decides which exceptions have expired.
    """
    base, *others = [side.name for side in head.sides]
    rule = gate_rule(gate_section or GateSection())
    schedule = look_schedule(head.plan)
    judgements = []
    for other in others:
        evidence = experiment_evidence(head, records, base, other)
        report = gate(
            evidence, rule, today=today, floors=floors, schedule=schedule, expected_cases=head.cases
        )
        found = [attribute(case, clock) for case in evidence.cases for clock in Clock]
        judgements.append(Judgement(other, evidence, report, tuple(one for one in found if one is not None)))
    return judgements


def today() -> date:
    """Return the day in UTC, by which exceptions expire everywhere at the same moment."""
    return datetime.now(timezone.utc).date()


def gate_rule(section: GateSection) -> GateRule:
    """Return a plan's gate as the judge takes it."""
    return GateRule(
        min_ratio=section.min_ratio,
        rule=Rule(section.rule.value),
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


def gate_of(head: ExperimentRecord) -> GateSection | None:
    """Return the gate that an experiment was planned with."""
    body: dict[str, Any] | None = head.plan.get("gate")
    return None if body is None else GateSection.model_validate(body, strict=False)


def look_schedule(plan: dict[str, Any]) -> LookSchedule | None:
    """Return the looks that an experiment was planned with; ``None`` for a fixed number of pairs."""
    pairs = parse_pairs(plan["experiment"]["pairs"])
    if pairs.minimum == pairs.maximum:
        return None
    return LookSchedule.adaptive(pairs.minimum, pairs.maximum)
