"""Which phases explain that a vector step takes longer, or shorter, than it did?

From pairs of attribution runs: for every phase the change in milliseconds per vector step with an interval,
and its share of the whole change with an interval for that ratio (Fieller 1954). Phases and remainders add up
to the whole. The whole is then held against the change seen in throughput runs, which have no timers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from envdyno.judge.distributions import Floats, mean_interval
from envdyno.judge.evidence import CaseEvidence, RunKind, RunSample, Side
from envdyno.judge.fieller import fieller_interval
from envdyno.judge.pairing import CANARY_LIMIT, Pair, pairs_of
from envdyno.judge.phase_tree import REMAINDER, PhaseKind, PhaseNode, PhaseTree, phase_tree
from envdyno.judge.reasons import Alarm, ReasonCode

__all__ = ["Attribution", "Clock", "MsInterval", "PhaseChange", "Reconciliation", "attribute"]

_TAIL = 0.025
_OVERLAP = -0.02
"""A remainder below minus 2 % of its whole is no rounding: phases overlap."""
_UNRECONCILED = 0.10
"""Attribution and throughput runs may differ by a tenth of the step before it is told."""


class Clock(str, Enum):
    """Which time is split up."""

    WALL = "wall"
    CPU = "cpu"


@dataclass(frozen=True, slots=True)
class MsInterval:
    """An interval of a time in milliseconds, or of a share."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChange:
    """One phase, group or remainder. ``None`` is "not measured", with its reason in ``why_null``."""

    node: PhaseNode
    base_ms: float | None
    """Mean over the base side's runs, per vector step: means add up, and differ by ``delta_ms``."""
    head_ms: float | None
    delta_ms: float | None
    """Mean over pairs of head less base."""
    interval: MsInterval | None
    """Of ``delta_ms``, two-sided 95 %; from two pairs on."""
    share: float | None
    """Part of the whole change; negative if it went the other way."""
    share_interval: MsInterval | None
    why_null: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Whether the interval excludes "no change", even where that of the whole does not."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """The change of the vector step in throughput runs against that in attribution runs."""

    throughput_base_ms: float
    throughput_head_ms: float
    throughput_delta_ms: float
    observer_base_ms: float
    """What the timers cost on the base side: attribution run less throughput run."""
    observer_head_ms: float
    agrees: bool
    """Whether the two changes differ by less than a tenth of the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """The change of one case's vector step, split over its phases."""

    case: str
    clock: Clock
    pairs: int
    total: PhaseChange
    """The whole vector step; its share is 1."""
    phases: tuple[PhaseChange, ...]
    """In reading order: a group, its parts, its remainder."""
    reconciliation: Reconciliation | None
    """``None`` where throughput runs have no such time."""
    alarms: tuple[Alarm, ...]

    @property
    def ranked(self) -> tuple[PhaseChange, ...]:
        """The parts that together are the whole, those that changed most first."""
        parts = [change for change in self.phases if change.node.is_part]
        return tuple(sorted(parts, key=lambda change: -abs(change.delta_ms or 0.0)))

    @property
    def explained_by(self) -> PhaseNode | None:
        """The one phase that surely makes more than half of the change, if there is one.

        A difference is never named after a phase otherwise.
        """
        for change in self.phases:
            share = change.share_interval
            if change.node.is_part and change.node.path != REMAINDER and share and share.low > 0.5:
                return change.node
        return None


def attribute(
    evidence: CaseEvidence, clock: Clock = Clock.WALL, canary_limit: float = CANARY_LIMIT
) -> Attribution | None:
    """Split the change of a case over its phases.

    Args:
        evidence: the case, with attribution runs of both sides.
        clock: wall time or CPU time.
        canary_limit: see :data:`~envdyno.judge.pairing.CANARY_LIMIT`; that of the gate.

    Returns:
        ``None`` if no pair of attribution runs has phases and a vector step by this clock.
    """
    pairs = [
        pair
        for pair in pairs_of(evidence, kind=RunKind.ATTRIBUTION, enough=2, canary_limit=canary_limit).used
        if all(_total(run, clock) is not None and _phases(run, clock) for run in (pair.base, pair.head))
    ]
    if not pairs:
        return None
    tree = phase_tree(_phases(run, clock) for pair in pairs for run in (pair.base, pair.head))
    base, head = (_table([_side(pair, i) for pair in pairs], tree, clock) for i in (0, 1))
    total = _change(PhaseNode("", PhaseKind.GROUP), base[""], head[""], None)
    whole = _deltas(base[""], head[""])
    phases = tuple(_change(node, base[node.path], head[node.path], whole) for node in tree.nodes)
    reconciliation = _reconcile(evidence, clock, total, canary_limit)
    return Attribution(
        case=evidence.case,
        clock=clock,
        pairs=len(pairs),
        total=total,
        phases=phases,
        reconciliation=reconciliation,
        alarms=(*_alarms(evidence.case, phases, total, reconciliation), *_mixed(evidence.case, pairs)),
    )


def _side(pair: Pair, index: int) -> RunSample:
    return (pair.base, pair.head)[index]


def _total(run: RunSample, clock: Clock) -> float | None:
    return run.vector_step_ms if clock is Clock.WALL else run.vector_step_cpu_ms


def _phases(run: RunSample, clock: Clock) -> Mapping[str, float]:
    return (run.phases_ms if clock is Clock.WALL else run.phases_cpu_ms) or {}


def _table(runs: Sequence[RunSample], tree: PhaseTree, clock: Clock) -> dict[str, Floats]:
    """Times by path over the runs, with NaN where a run has none; the whole under the empty path."""
    totals = [total for run in runs if (total := _total(run, clock)) is not None]
    rows = [tree.times(total, _phases(run, clock)) for run, total in zip(runs, totals, strict=True)]
    table: dict[str, Floats] = {"": np.asarray(totals, dtype=np.float64)}
    for node in tree.nodes:
        times = (row[node.path] for row in rows)
        table[node.path] = np.asarray([math.nan if t is None else t for t in times], dtype=np.float64)
    return table


def _deltas(base: Floats, head: Floats) -> Floats:
    return head - base


def _change(node: PhaseNode, base: Floats, head: Floats, whole: Floats | None) -> PhaseChange:
    """One row; ``whole`` are the pairs' changes of the vector step, or ``None`` for that row itself."""
    why: dict[str, str] = {}
    base_ms, head_ms = (_mean(times, name, why) for times, name in ((base, "base"), (head, "head")))
    d = _deltas(base, head)
    both = ~np.isnan(d)
    if not both.any():
        why["delta_ms"] = why["interval"] = why["share"] = "not instrumented on both sides"
        return PhaseChange(
            node=node,
            base_ms=base_ms,
            head_ms=head_ms,
            delta_ms=None,
            interval=None,
            share=None,
            share_interval=None,
            why_null=why,
        )
    known = d[both]
    share, share_interval = _share(known, None if whole is None else whole[both], why)
    return PhaseChange(
        node=node,
        base_ms=base_ms,
        head_ms=head_ms,
        delta_ms=float(known.mean()),
        interval=_mean_interval(known, why),
        share=share,
        share_interval=share_interval,
        why_null=why,
    )


def _mean(times: Floats, name: str, why: dict[str, str]) -> float | None:
    known = times[~np.isnan(times)]
    if known.size:
        return float(known.mean())
    why[f"{name}_ms"] = "not instrumented"
    return None


def _mean_interval(d: Floats, why: dict[str, str]) -> MsInterval | None:
    bounds = mean_interval(d, _TAIL)
    if bounds is None:
        why["interval"] = "one pair of attribution runs has no spread"
        return None
    return MsInterval(*bounds)


def _share(part: Floats, whole: Floats | None, why: dict[str, str]) -> tuple[float | None, MsInterval | None]:
    if whole is None:
        return 1.0, None
    if part.size < 2:
        why["share_interval"] = "one pair of attribution runs has no spread"
        mean = float(whole.mean())
        return (float(part.mean()) / mean if mean else None), None
    bounds = fieller_interval(part, whole, _TAIL)
    if bounds is None:
        why["share"] = why["share_interval"] = "the change of the whole is not told from zero"
        return None, None
    return float(part.mean()) / float(whole.mean()), MsInterval(*bounds)


def _reconcile(
    evidence: CaseEvidence, clock: Clock, total: PhaseChange, canary_limit: float
) -> Reconciliation | None:
    pairs = pairs_of(evidence, canary_limit=canary_limit).used
    runs = [[_total(_side(pair, i), clock) for pair in pairs] for i in (0, 1)]
    base, head = ([time for time in side if time is not None] for side in runs)
    if not base or not head or total.base_ms is None or total.head_ms is None or total.delta_ms is None:
        return None
    base_ms, head_ms = float(np.mean(base)), float(np.mean(head))
    difference = (head_ms - base_ms) - total.delta_ms
    return Reconciliation(
        throughput_base_ms=base_ms,
        throughput_head_ms=head_ms,
        throughput_delta_ms=head_ms - base_ms,
        observer_base_ms=total.base_ms - base_ms,
        observer_head_ms=total.head_ms - head_ms,
        agrees=abs(difference) <= _UNRECONCILED * max(base_ms, head_ms),
    )


def _mixed(case: str, pairs: Sequence[Pair]) -> Iterator[Alarm]:
    """Yield an alarm for each side whose runs timed other things, or by other clocks, than each other."""
    for index, side in enumerate(Side):
        hashes = sorted({run.config_hash for pair in pairs if (run := _side(pair, index)).config_hash})
        if len(hashes) > 1:
            message = (
                f"The attribution runs of side {side.value} of {case} have {len(hashes)} different "
                f"configurations: {', '.join(digest[:12] for digest in hashes)}."
            )
            yield Alarm(ReasonCode.MIXED_PHASES, message, case)


def _alarms(
    case: str, phases: Sequence[PhaseChange], total: PhaseChange, reconciliation: Reconciliation | None
) -> tuple[Alarm, ...]:
    alarms = []
    for change in phases:
        for ms, whole in ((change.base_ms, total.base_ms), (change.head_ms, total.head_ms)):
            if change.node.path.endswith(REMAINDER) and ms is not None and whole and ms / whole < _OVERLAP:
                where = change.node.path.rpartition("/")[0] or "the vector step"
                message = f"The phases inside {where} of {case} take {-ms:.2f} ms longer than it."
                alarms.append(Alarm(ReasonCode.OVERLAPPING_PHASES, message, case))
                break
    if reconciliation is not None and not reconciliation.agrees:
        message = (
            f"A vector step of {case} changed by {reconciliation.throughput_delta_ms:+.2f} ms in throughput "
            f"runs and by {total.delta_ms:+.2f} ms in attribution runs."
        )
        alarms.append(Alarm(ReasonCode.NOT_RECONCILED, message, case))
    return tuple(alarms)
