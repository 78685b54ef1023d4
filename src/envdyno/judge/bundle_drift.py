"""Between two bundles of one machine: did the same software become faster or slower meanwhile?

The control side's figures and the canary's are compared by Welch's t on logs. If the canary moved as well, it
was the host. If it did not, the case itself drifts. Either way the change belongs to no commit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from envdyno.judge.distributions import Floats, student_quantile
from envdyno.judge.estimate import RatioInterval
from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, Metric, Side
from envdyno.judge.reasons import Alarm, ReasonCode
from envdyno.judge.variance_sources import LEAST_SPREAD

__all__ = ["BUNDLE_LIMIT", "ControlMove", "Mover", "control_moves", "welch_interval"]

BUNDLE_LIMIT = 0.02
"""Moves of the control side up to 2 % are no alarm, however sure they are."""
_ALIKE = 0.5
"""A canary that moved by at least half as much, in the same direction, explains the move."""


class Mover(str, Enum):
    """What moved between two bundles."""

    NOTHING = "nothing"
    HOST = "host"
    """Control side and canary alike."""
    CASE = "case"
    """The control side, and the canary did not, or is not there."""
    UNKNOWN = "unknown"
    """Too few figures for an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlMove:
    """How the control side of one case moved from the earlier bundle to the later."""

    case: str
    ratio: float
    """Later over earlier, of geometric means."""
    interval: RatioInterval | None
    """Two-sided 99 %; ``None`` with fewer than two figures on a side."""
    canary_ratio: float | None
    mover: Mover

    def alarm(self) -> Alarm | None:
        """The alarm, if something moved."""
        if self.mover not in {Mover.HOST, Mover.CASE}:
            return None
        change = self.ratio - 1
        host = self.mover is Mover.HOST
        beside = "so did the canary" if host else "the canary does not explain it"
        message = f"The control side of {self.case} moved by {change:+.1%} between the bundles; {beside}."
        return Alarm(ReasonCode.HOST_MOVED if host else ReasonCode.CASE_MOVED, message, self.case, change)


def control_moves(
    earlier: ExperimentEvidence,
    later: ExperimentEvidence,
    metric: Metric = Metric.TRANSITIONS_PER_S,
    control: Side = Side.BASE,
) -> tuple[ControlMove, ...]:
    """How the control side of each common case moved, in the order of the later bundle.

    Raises:
        ValueError: the bundles come from different machines, or a machine is not known.
    """
    if earlier.machine is None or earlier.machine != later.machine:
        raise ValueError(
            f"Drift between bundles is a question about one machine; these are from {earlier.machine} and "
            f"{later.machine}."
        )
    moves = (
        _move(before, case, metric, control)
        for case in later.cases
        if (before := earlier.case(case.case)) is not None
    )
    return tuple(move for move in moves if move is not None)


def welch_interval(first: Floats, second: Floats, tail: float) -> tuple[float, float] | None:
    """Interval for the difference of means of two samples with unlike variances (Welch 1947)."""
    if min(first.size, second.size) < 2:
        return None
    parts = [max(float(x.var(ddof=1)), LEAST_SPREAD**2) / x.size for x in (first, second)]
    total = sum(parts)
    df = total**2 / sum(part**2 / (x.size - 1) for part, x in zip(parts, (first, second), strict=True))
    width = student_quantile(tail, df) * math.sqrt(total)
    difference = float(second.mean() - first.mean())
    return difference - width, difference + width


def _move(before: CaseEvidence, after: CaseEvidence, metric: Metric, control: Side) -> ControlMove | None:
    x, y = (_logs([run.rate(metric) for run in case.of(control)]) for case in (before, after))
    if not x.size or not y.size:
        return None
    move = float(y.mean() - x.mean())
    bounds = welch_interval(x, y, 0.005)
    canary = _canary_move(before, after, control)
    return ControlMove(
        case=after.case,
        ratio=math.exp(move),
        interval=None if bounds is None else RatioInterval(math.exp(bounds[0]), math.exp(bounds[1])),
        canary_ratio=None if canary is None else math.exp(canary),
        mover=_mover(move, bounds, canary),
    )


def _mover(move: float, bounds: tuple[float, float] | None, canary: float | None) -> Mover:
    if bounds is None:
        return Mover.UNKNOWN
    if bounds[0] <= 0 <= bounds[1] or abs(math.expm1(move)) <= BUNDLE_LIMIT:
        return Mover.NOTHING
    explained = canary is not None and canary / move >= _ALIKE
    return Mover.HOST if explained else Mover.CASE


def _canary_move(before: CaseEvidence, after: CaseEvidence, control: Side) -> float | None:
    x, y = (_logs([run.canary_per_s for run in case.of(control)]) for case in (before, after))
    return float(np.median(y) - np.median(x)) if x.size and y.size else None


def _logs(values: Sequence[float | None]) -> Floats:
    return np.log(np.asarray([value for value in values if value is not None], dtype=np.float64))
