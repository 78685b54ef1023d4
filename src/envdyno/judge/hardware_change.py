"""What the processor counted on both sides: to be read beside a change, never judged.

Instructions per transition tell "more work" from "the same work, slower": they repeat where the clock, the
caches and the neighbours do not. Pools that spin while they wait execute instructions too, so that a figure
may move with no work behind it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from envdyno.judge.distributions import mean_interval
from envdyno.judge.pairing import PairSet
from envdyno.record.hardware import EventCount
from envdyno.record.run_record import RunRecord

__all__ = ["FIGURES", "HardwareChange", "hardware_changes", "hardware_figures"]

INSTRUCTIONS_PER_CYCLE = "instructions_per_cycle"
FIGURES = (
    "instructions_per_transition",
    "cycles_per_transition",
    INSTRUCTIONS_PER_CYCLE,
    "cache_misses_per_transition",
    "branch_misses_per_transition",
)
_EVENTS = {
    "instructions_per_transition": "instructions",
    "cycles_per_transition": "cycles",
    "cache_misses_per_transition": "cache_misses",
    "branch_misses_per_transition": "branch_misses",
}
_TAIL = 0.025


class HardwareChange(NamedTuple):
    """One figure on both sides."""

    name: str
    base: float
    """Median over the pairs that have it on both sides."""
    head: float
    change: float
    """Head over base less 1, by the mean log ratio of the pairs."""
    low: float | None
    """Ends of the 95 % interval of ``change``; ``None`` for one pair, which has no spread."""
    high: float | None
    pairs: int


def hardware_figures(record: RunRecord) -> dict[str, float] | None:
    """Return what was counted in a run, per transition and per cycle; ``None`` where nothing was.

    Transitions are those of the same time, at the rate of the window.
    """
    found, throughput = record.hardware, record.throughput
    if found is None or throughput is None:
        return None
    transitions = throughput.transitions_per_s * found.elapsed_s
    counts: dict[str, EventCount | None] = {name: getattr(found, event) for name, event in _EVENTS.items()}
    figures = {name: count.count / transitions for name, count in counts.items() if count and transitions > 0}
    if found.instructions_per_cycle is not None:
        figures[INSTRUCTIONS_PER_CYCLE] = found.instructions_per_cycle
    return figures or None


def hardware_changes(pairs: PairSet) -> tuple[HardwareChange, ...]:
    """Compare the sides in every figure that some pair has, in the order of :data:`FIGURES`."""
    changes = (_change(name, pairs) for name in FIGURES)
    return tuple(change for change in changes if change is not None)


def _change(name: str, pairs: PairSet) -> HardwareChange | None:
    told = [
        ((pair.base.hardware or {}).get(name), (pair.head.hardware or {}).get(name)) for pair in pairs.used
    ]
    known = [(base, head) for base, head in told if base and head]
    if not known:
        return None
    logs = np.log([head / base for base, head in known])
    low, high = mean_interval(logs, _TAIL) or (None, None)
    return HardwareChange(
        name=name,
        base=float(np.median([base for base, _ in known])),
        head=float(np.median([head for _, head in known])),
        change=math.expm1(float(logs.mean())),
        low=None if low is None else math.expm1(low),
        high=None if high is None else math.expm1(high),
        pairs=len(known),
    )
