"""Two bundles side by side: what ``envdyno compare A B`` prints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from envdyno.judge.bundle_drift import ControlMove, control_moves, welch_interval
from envdyno.judge.estimate import RatioEstimate, RatioInterval, estimate_ratio, known_noise
from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, Metric, Side, SideEvidence, UnpairedSide
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.identity import IdentityMismatch, compare_identity
from envdyno.judge.pairing import PairSet, pairs_of
from envdyno.judge.reasons import Alarm, Outcome, ReasonCode
from envdyno.judge.unpaired import UnpairedComparison, compare_unpaired
from envdyno.judge.verdicts import ExitCode, Verdict, exit_code, overall

__all__ = ["BundleComparison", "CaseComparison", "RatioChange", "compare_bundles"]


@dataclass(frozen=True, slots=True)
class RatioChange:
    """How the ratio of head to base differs between two bundles; such a figure travels between machines."""

    change: float
    """Later ratio over earlier ratio."""
    interval: RatioInterval | None
    """Two-sided 95 % by Welch's t; ``None`` with fewer than two pairs in a bundle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseComparison:
    """One case in both bundles."""

    case: str
    absolute: UnpairedComparison
    """The compared sides' own figures; without a ratio if they may not be compared."""
    earlier_ratio: RatioEstimate | None
    """Head over base within the earlier bundle, if it has pairs."""
    later_ratio: RatioEstimate | None
    ratio_change: RatioChange | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleComparison:
    """Two bundles, case by case."""

    outcome: Outcome | None
    """Why absolute figures may not be compared, if so."""
    mismatches: tuple[IdentityMismatch, ...]
    cases: tuple[CaseComparison, ...]
    only_earlier: tuple[str, ...]
    only_later: tuple[str, ...]
    control_moves: tuple[ControlMove, ...]
    """How the control side moved; empty between different machines."""
    alarms: tuple[Alarm, ...]

    @property
    def exit_code(self) -> ExitCode:
        """The process's exit code: that of the worst verdict, or 0 if nothing was to be judged."""
        verdicts = [case.absolute.outcome.verdict for case in self.cases if case.absolute.outcome]
        verdicts += [self.outcome.verdict] if self.outcome else []
        return exit_code(overall(verdicts)) if verdicts or not self.cases else ExitCode.OK


def compare_bundles(
    earlier: ExperimentEvidence,
    later: ExperimentEvidence,
    *,
    earlier_side: Side = Side.BASE,
    later_side: Side = Side.BASE,
    rule: GateRule | None = None,
    declared: Iterable[str] = (),
    force: bool = False,
) -> BundleComparison:
    """Compare two bundles.

    Args:
        earlier: the reference.
        later: the other.
        earlier_side: which side of the reference is compared in absolute figures. A bundle of ``envdyno run``
            has the base side only.
        later_side: which side of the other.
        rule: a gate for the absolute figures, if a verdict is wanted.
        declared: identity fields that may differ.
        force: compare absolute figures in spite of differing identities, labelled and without a verdict.
    """
    allowed = frozenset(declared)
    ours, theirs = (_side(e, s) for e, s in ((earlier, earlier_side), (later, later_side)))
    mismatches = compare_identity(ours.identity, theirs.identity, allowed)
    outcome = _outcome(earlier, later, mismatches)
    metric = rule.metric if rule else Metric.TRANSITIONS_PER_S
    cases = []
    for case in later.cases:
        before = earlier.case(case.case)
        if before is not None:
            sides = (
                _unpaired(before, earlier_side, earlier, metric),
                _unpaired(case, later_side, later, metric),
            )
            absolute = compare_unpaired(*sides, rule, allowed, barrier=outcome, force=force)
            cases.append(_case(before, case, absolute, metric))
    same_machine = earlier.machine is not None and earlier.machine == later.machine
    moves = control_moves(earlier, later, metric) if same_machine else ()
    names = [{case.case for case in bundle.cases} for bundle in (earlier, later)]
    return BundleComparison(
        outcome=outcome,
        mismatches=mismatches,
        cases=tuple(cases),
        only_earlier=tuple(sorted(names[0] - names[1])),
        only_later=tuple(sorted(names[1] - names[0])),
        control_moves=moves,
        alarms=tuple(alarm for move in moves if (alarm := move.alarm()) is not None),
    )


def _outcome(
    earlier: ExperimentEvidence, later: ExperimentEvidence, mismatches: tuple[IdentityMismatch, ...]
) -> Outcome | None:
    if earlier.machine is None or earlier.machine != later.machine:
        ours, theirs = (bundle.machine or "an unknown one" for bundle in (earlier, later))
        message = f"The bundles are not known to come from one machine, but from {ours} and {theirs}."
        return Outcome(Verdict.INCOMPARABLE, ReasonCode.DIFFERENT_MACHINES, message)
    if mismatches:
        names = ", ".join(mismatch.name for mismatch in mismatches)
        message = f"The bundles differ in fields that must be equal: {names}."
        return Outcome(Verdict.INCOMPARABLE, ReasonCode.IDENTITY_DIFFERS, message)
    return None


def _case(
    before: CaseEvidence, after: CaseEvidence, absolute: UnpairedComparison, metric: Metric
) -> CaseComparison:
    earlier, later = pairs_of(before, metric), pairs_of(after, metric)
    return CaseComparison(
        case=after.case,
        absolute=absolute,
        earlier_ratio=estimate_ratio(earlier, known_noise((), earlier), metric),
        later_ratio=estimate_ratio(later, known_noise((), later), metric),
        ratio_change=_ratio_change(earlier, later, metric),
    )


def _ratio_change(earlier: PairSet, later: PairSet, metric: Metric) -> RatioChange | None:
    if not earlier.used or not later.used:
        return None
    x, y = earlier.log_ratios(metric), later.log_ratios(metric)
    bounds = welch_interval(x, y, 0.025)
    interval = None if bounds is None else RatioInterval(math.exp(bounds[0]), math.exp(bounds[1]))
    return RatioChange(math.exp(float(y.mean() - x.mean())), interval)


def _side(evidence: ExperimentEvidence, side: Side) -> SideEvidence:
    return evidence.base if side is Side.BASE else evidence.head


def _unpaired(case: CaseEvidence, side: Side, bundle: ExperimentEvidence, metric: Metric) -> UnpairedSide:
    rates = tuple(rate for run in case.of(side) if (rate := run.rate(metric)) is not None)
    software = _side(bundle, side)
    return UnpairedSide(
        name=software.name or case.case,
        rates=rates,
        source="bundle",
        identity=software.identity,
        measured_at_s=bundle.measured_at_s,
    )
