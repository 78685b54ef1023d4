"""What is to be read with the verdict on a case, whatever the verdict is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from envdyno.judge.drift import Drift, DriftKind, machine_drift, position_effect, ratio_trend
from envdyno.judge.estimate import RatioEstimate, RatioInterval
from envdyno.judge.evidence import CaseEvidence, RunKind, Side, WorkValue
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.pairing import PairSet, WhyUnused
from envdyno.judge.reasons import Alarm, ReasonCode
from envdyno.judge.series import is_trending
from envdyno.judge.work import WorkClass, WorkComparison
from envdyno.record.counted import agreeing, counted

__all__ = ["drift_alarms", "interval_alarm", "run_alarms", "work_alarms"]

_CODES = {
    DriftKind.TREND: ReasonCode.MACHINE_TREND,
    DriftKind.SHIFT: ReasonCode.BATCH_SHIFT,
    DriftKind.RATIO: ReasonCode.RATIO_TREND,
    DriftKind.POSITION: ReasonCode.POSITION_EFFECT,
}


def drift_alarms(evidence: CaseEvidence, pairs: PairSet, rule: GateRule) -> tuple[Alarm, ...]:
    """Alarms for movements of the machine and of the ratio between runs."""
    found = (
        machine_drift(evidence, rule.metric),
        ratio_trend(pairs, rule.metric),
        position_effect(pairs, rule.metric),
    )
    alarming = (drift for drift in found if drift is not None and drift.is_alarming)
    return tuple(
        Alarm(_CODES[drift.kind], _drift_message(evidence.case, drift), evidence.case, drift.change)
        for drift in alarming
    )


def run_alarms(evidence: CaseEvidence, pairs: PairSet) -> tuple[Alarm, ...]:
    """Alarms about single runs and pairs: disturbed, void, missing, repeated, not steady."""
    return tuple(Alarm(code, message, evidence.case) for code, message in _run_findings(evidence, pairs))


def _brief(value: WorkValue) -> str:
    """Return a fact with the digits that a reader compares; the record has them all."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def work_alarms(case: str, work: WorkComparison) -> tuple[Alarm, ...]:
    """Alarms about what the sides did."""
    alarms = []
    to_read = work.of_class(WorkClass.TO_READ)
    if to_read:
        facts = "; ".join(f"{d.name}: {_brief(d.base)} | {_brief(d.head)}" for d in to_read)
        alarms.append(Alarm(ReasonCode.WORK_TO_READ, f"The sides of {case} differ in {facts}.", case))
    if work.resets_covered is False:
        message = f"No environment of {case} was reset in any window: the reset path is not covered."
        alarms.append(Alarm(ReasonCode.RESET_NOT_COVERED, message, case))
    return tuple(alarms)


def interval_alarm(case: str, estimate: RatioEstimate, min_ratio: float) -> Alarm | None:
    """The alarm that the two kinds of interval lie differently to the gate, if they do."""
    ours, free = estimate.interval, estimate.distribution_free
    if ours is None or free is None or _place(ours, min_ratio) == _place(free, min_ratio):
        return None
    message = (
        f"The t interval of {case} is [{ours.low:.3f}, {ours.high:.3f}], the distribution-free one "
        f"[{free.low:.3f}, {free.high:.3f}]; they lie differently to {min_ratio:g}."
    )
    return Alarm(ReasonCode.INTERVALS_DISAGREE, message, case)


def _place(interval: RatioInterval, min_ratio: float) -> int:
    return (interval.low >= min_ratio) - (interval.high < min_ratio)


def _drift_message(case: str, drift: Drift) -> str:
    change = f"{drift.change:+.1%}"
    canary = "" if drift.canary_change is None else f"; the canary by {drift.canary_change:+.1%}"
    if drift.kind is DriftKind.SHIFT:
        pair = 0 if drift.at_pair is None else drift.at_pair + 1
        return (
            f"Both sides of {case} changed by {change} after run {drift.after_run}, in pair {pair}{canary}."
        )
    return {
        DriftKind.TREND: f"Both sides of {case} drifted by {change} over the experiment{canary}.",
        DriftKind.RATIO: f"The ratio of {case} moved by {change} over the pairs.",
        DriftKind.POSITION: f"The second run of a pair of {case} differs by {change} from the first.",
    }[drift.kind]


def _run_findings(evidence: CaseEvidence, pairs: PairSet) -> Iterator[tuple[ReasonCode, str]]:
    case = evidence.case
    why = Counter(unused.why for unused in pairs.unused)
    used, total = len(pairs.used), len(pairs.used) + len(pairs.unused)
    if void := why[WhyUnused.CANARY_MOVED]:
        text = f"{counted(void, 'pair')} of {case} {agreeing(void, 'is', 'are')} void: the canary moved."
        yield ReasonCode.CANARY_MOVED, text
    if aside := why[WhyUnused.DISTURBED]:
        are, counts = agreeing(aside, "is", "are"), agreeing(used, "one counts", "ones count")
        text = f"{counted(aside, 'disturbed pair')} of {case} {are} set aside, {used} calm {counts}."
        yield ReasonCode.DISTURBED_RUNS, text
    if disturbed := sum(pair.is_disturbed for pair in pairs.used):
        were, count = agreeing(disturbed, "was", "were"), agreeing(disturbed, "counts", "count")
        text = (
            f"{disturbed} of {counted(used, 'pair')} of {case} {were} disturbed by foreign load, and {count}."
        )
        yield ReasonCode.DISTURBED_RUNS, text
    if missing := why[WhyUnused.INCOMPLETE]:
        text = f"{missing} of {counted(total, 'pair')} of {case} {agreeing(missing, 'is', 'are')} incomplete."
        yield ReasonCode.PAIRS_INCOMPLETE, text
    if retried := _retried(evidence):
        text = f"{counted(retried, 'run')} of {case} failed first and succeeded when repeated."
        yield ReasonCode.RUN_RETRIED, text
    unsteady = [run for side in Side for run in evidence.of(side) if _is_unsteady(run.series_per_s)]
    if unsteady:
        text = f"Throughput of {case} changed within the window in {counted(len(unsteady), 'run')}."
        yield ReasonCode.WITHIN_RUN_TREND, text


def _retried(evidence: CaseEvidence) -> int:
    runs = [run for run in evidence.runs if run.kind is RunKind.THROUGHPUT]
    usable = {(run.pair, run.side) for run in runs if run.is_usable}
    return sum(run.status.is_failure and (run.pair, run.side) in usable for run in runs)


def _is_unsteady(series: Iterable[float] | None) -> bool:
    return series is not None and is_trending(tuple(series))
