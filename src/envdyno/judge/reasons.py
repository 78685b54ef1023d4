"""Every reason code of a verdict or an alarm, what it means, and what would change it.

The catalogue is what ``envdyno explain CODE`` prints. Codes are stable: scripts may rely on them.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from envdyno.judge.alarm_texts import ALARM_TEXTS
from envdyno.judge.reason_texts import VERDICT_TEXTS
from envdyno.judge.verdicts import Verdict

__all__ = ["Alarm", "Explanation", "Outcome", "ReasonCode", "explain"]


class ReasonCode(str, Enum):
    """Why a verdict is what it is, or what is to be read with it."""

    LOWER_BOUND_MEETS_GATE = "LOWER_BOUND_MEETS_GATE"
    MEDIAN_MEETS_GATE = "MEDIAN_MEETS_GATE"

    UPPER_BOUND_BELOW_GATE = "UPPER_BOUND_BELOW_GATE"
    MEDIAN_BELOW_GATE = "MEDIAN_BELOW_GATE"
    EXCEPTION_EXPIRED = "EXCEPTION_EXPIRED"

    INTERVAL_SPANS_GATE = "INTERVAL_SPANS_GATE"
    RATIO_AT_GATE = "RATIO_AT_GATE"
    NOISE_TOO_LARGE = "NOISE_TOO_LARGE"
    TOO_FEW_PAIRS = "TOO_FEW_PAIRS"
    ALL_PAIRS_VOID = "ALL_PAIRS_VOID"
    GATE_TIGHTER_THAN_NOISE = "GATE_TIGHTER_THAN_NOISE"
    ESTIMATORS_DISAGREE = "ESTIMATORS_DISAGREE"
    LOOKS_DISAGREE = "LOOKS_DISAGREE"
    NOT_AFTER_CORRECTION = "NOT_AFTER_CORRECTION"
    DRIFT_IN_BLOCKED_ORDER = "DRIFT_IN_BLOCKED_ORDER"
    NOT_CONFIRMED = "NOT_CONFIRMED"

    IDENTITY_DIFFERS = "IDENTITY_DIFFERS"
    DIFFERENT_MACHINES = "DIFFERENT_MACHINES"
    SIDES_LOAD_SAME_CODE = "SIDES_LOAD_SAME_CODE"
    DIRTY_TREE = "DIRTY_TREE"
    REVISION_UNKNOWN = "REVISION_UNKNOWN"
    MIXED_CONFIGS = "MIXED_CONFIGS"
    WORK_DIFFERS = "WORK_DIFFERS"
    IMPLAUSIBLE_GAIN = "IMPLAUSIBLE_GAIN"

    CASE_MISSING = "CASE_MISSING"
    NO_BASELINE = "NO_BASELINE"
    RUN_FAILED = "RUN_FAILED"
    RUN_INVALID = "RUN_INVALID"
    NO_COMPLETE_PAIR = "NO_COMPLETE_PAIR"
    NO_SAMPLES = "NO_SAMPLES"

    BATCH_SHIFT = "BATCH_SHIFT"
    MACHINE_TREND = "MACHINE_TREND"
    RATIO_TREND = "RATIO_TREND"
    POSITION_EFFECT = "POSITION_EFFECT"
    WITHIN_RUN_TREND = "WITHIN_RUN_TREND"
    ONE_SIDED = "ONE_SIDED"
    HOST_MOVED = "HOST_MOVED"
    CASE_MOVED = "CASE_MOVED"
    CANARY_MOVED = "CANARY_MOVED"
    DISTURBED_RUNS = "DISTURBED_RUNS"
    PAIRS_INCOMPLETE = "PAIRS_INCOMPLETE"
    RUN_RETRIED = "RUN_RETRIED"
    INTERVALS_DISAGREE = "INTERVALS_DISAGREE"
    BLOCKED_ORDER = "BLOCKED_ORDER"
    POINT_RULE = "POINT_RULE"
    WORK_TO_READ = "WORK_TO_READ"
    RESET_NOT_COVERED = "RESET_NOT_COVERED"
    AA_BIASED = "AA_BIASED"
    EXCEPTION_UNMATCHED = "EXCEPTION_UNMATCHED"
    EXCEPTION_NOT_NEEDED = "EXCEPTION_NOT_NEEDED"
    UNPAIRED = "UNPAIRED"
    FORCED = "FORCED"
    NOT_RECONCILED = "NOT_RECONCILED"
    OVERLAPPING_PHASES = "OVERLAPPING_PHASES"
    MIXED_PHASES = "MIXED_PHASES"


class Explanation(NamedTuple):
    """What a reason code says, in sentences."""

    code: ReasonCode
    verdict: Verdict | None
    """The verdict that it comes with; ``None`` for an alarm, which comes beside a verdict."""
    meaning: str
    what_would_change_it: str


class Outcome(NamedTuple):
    """A verdict with its reason."""

    verdict: Verdict
    code: ReasonCode
    message: str
    """One sentence with the case's own figures."""


class Alarm(NamedTuple):
    """Something to be read with a verdict."""

    code: ReasonCode
    message: str
    case: str | None = None
    """``None`` if it concerns the whole experiment."""
    magnitude: float | None = None
    """The size of what was found, as a fraction, where it has one."""


def explain(code: ReasonCode | str) -> Explanation:
    """The catalogue's entry for a code.

    Raises:
        ValueError: there is no such code; the message lists similar ones.
    """
    if not isinstance(code, ReasonCode):
        code = _parse(code)
    text = VERDICT_TEXTS.get(code.value) or ALARM_TEXTS[code.value]
    return Explanation(code, text.verdict, text.meaning, text.change)


def _parse(text: str) -> ReasonCode:
    wanted = text.strip().upper().replace("-", "_")
    try:
        return ReasonCode(wanted)
    except ValueError:
        import difflib

        near = difflib.get_close_matches(wanted, [code.value for code in ReasonCode], n=3, cutoff=0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"There is no reason code {text!r}.{hint}") from None
