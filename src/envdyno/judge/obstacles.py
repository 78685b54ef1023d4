"""What keeps a case from being judged at all: nothing measured, or nothing comparable."""

from __future__ import annotations

from collections.abc import Iterable

from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, RunKind, RunSample, Side
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.identity import compare_identity, describe
from envdyno.judge.pairing import PairSet, WhyUnused
from envdyno.judge.reasons import Outcome, ReasonCode
from envdyno.judge.verdicts import Verdict
from envdyno.judge.work import WorkClass, WorkComparison
from envdyno.record.counted import counted
from envdyno.record.status import Status

__all__ = ["case_obstacle", "experiment_obstacle", "unrecovered_failures"]


def experiment_obstacle(evidence: ExperimentEvidence, rule: GateRule) -> Outcome | None:
    """What makes the two sides incomparable for every case, if anything does."""
    if evidence.sides_load_same_code and not evidence.is_aa:
        return _incomparable(ReasonCode.SIDES_LOAD_SAME_CODE, "Both sides loaded the same code.")
    for side in (evidence.base, evidence.head):
        if side.dirty and not rule.allow_dirty:
            message = f"The tree of {side.name or 'a side'} differs from its commit {side.revision}."
            return _incomparable(ReasonCode.DIRTY_TREE, message)
        if side.name and side.revision is None:
            return _incomparable(ReasonCode.REVISION_UNKNOWN, f"The revision of {side.name} is not known.")
    mismatches = compare_identity(
        evidence.base.identity, evidence.head.identity, evidence.declared_differences
    )
    if mismatches:
        message = f"The sides differ in fields that must be equal: {describe(mismatches)}."
        return _incomparable(ReasonCode.IDENTITY_DIFFERS, message)
    return None


def case_obstacle(
    evidence: CaseEvidence, pairs: PairSet, work: WorkComparison, rule: GateRule
) -> Outcome | None:
    """What keeps one case from being judged, the most basic obstacle first."""
    if evidence.not_aligned is not None:
        message = f"The sides of {evidence.case} cannot be compared: {evidence.not_aligned}."
        return _incomparable(ReasonCode.WORK_DIFFERS, message)
    return _not_measured(evidence) or _incomparable_case(evidence, work) or _too_few(evidence, pairs, rule)


def unrecovered_failures(evidence: CaseEvidence) -> tuple[RunSample, ...]:
    """Failed throughput runs that no usable run of the same pair and side makes up for, in order of time."""
    runs = [run for run in evidence.runs if run.kind is RunKind.THROUGHPUT]
    recovered = {(run.pair, run.side) for run in runs if run.is_usable}
    failed = [run for run in runs if run.status.is_failure and (run.pair, run.side) not in recovered]
    return tuple(sorted(failed, key=lambda run: run.started_at_s))


def _not_measured(evidence: CaseEvidence) -> Outcome | None:
    runs = [run for run in evidence.runs if run.kind is RunKind.THROUGHPUT]
    if not runs:
        return Outcome(Verdict.NOT_MEASURED, ReasonCode.CASE_MISSING, f"There is no run of {evidence.case}.")
    if not any(run.side is Side.BASE for run in runs):
        message = f"There is no run of the base side of {evidence.case}."
        return Outcome(Verdict.NOT_MEASURED, ReasonCode.NO_BASELINE, message)
    failed = unrecovered_failures(evidence)
    if failed:
        first = failed[0]
        code = ReasonCode.RUN_INVALID if first.status is Status.INVALID else ReasonCode.RUN_FAILED
        why = first.reason or "no reason was recorded"
        message = (
            f"{len(failed)} of {counted(len(runs), 'run')} of {evidence.case} failed; the first is side "
            f"{first.side.value}, pair {first.pair + 1}, {first.status.value}: {why}."
        )
        return Outcome(Verdict.NOT_MEASURED, code, message)
    return None


def _incomparable_case(evidence: CaseEvidence, work: WorkComparison) -> Outcome | None:
    for side in Side:
        hashes = _config_hashes(evidence.of(side))
        if len(hashes) > 1:
            message = (
                f"The runs of side {side.value} of {evidence.case} have {len(hashes)} different "
                f"configurations: {', '.join(hashes)}."
            )
            return _incomparable(ReasonCode.MIXED_CONFIGS, message)
    breaking = work.of_class(WorkClass.BREAKS)
    if breaking:
        facts = "; ".join(f"{d.name}: {d.base} | {d.head}" for d in breaking)
        return _incomparable(
            ReasonCode.WORK_DIFFERS, f"The sides of {evidence.case} did different work: {facts}."
        )
    return None


def _too_few(evidence: CaseEvidence, pairs: PairSet, rule: GateRule) -> Outcome | None:
    if not pairs.used and any(unused.why is WhyUnused.CANARY_MOVED for unused in pairs.unused):
        message = f"The canary moved in every complete pair of {evidence.case}."
        return Outcome(Verdict.UNDECIDED, ReasonCode.ALL_PAIRS_VOID, message)
    if not pairs.used:
        message = f"No pair of {evidence.case} has a run of both sides with {rule.metric.value}."
        return Outcome(Verdict.NOT_MEASURED, ReasonCode.NO_COMPLETE_PAIR, message)
    if len(pairs.used) < rule.min_pairs:
        message = (
            f"{evidence.case} has {counted(len(pairs.used), 'pair')}, and a verdict needs {rule.min_pairs}."
        )
        return Outcome(Verdict.UNDECIDED, ReasonCode.TOO_FEW_PAIRS, message)
    return None


def _config_hashes(runs: Iterable[RunSample]) -> list[str]:
    return sorted({run.config_hash for run in runs if run.config_hash is not None})


def _incomparable(code: ReasonCode, message: str) -> Outcome:
    return Outcome(Verdict.INCOMPARABLE, code, message)
