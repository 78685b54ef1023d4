"""Did both sides do the same work? A speed-up by doing less must not pass for one.

Facts about work are of two classes. Some make figures incomparable when they differ (substeps, sizes, specs).
All others belong beside the result: a correctness fix may change rewards a little and is still comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from envdyno.judge.evidence import CaseEvidence, RunSample, Side, WorkValue

__all__ = ["BREAKING", "CONTACTS", "SAMPLED", "WorkClass", "WorkComparison", "WorkDifference", "compare_work"]

BREAKING = frozenset(
    {
        "action_seed",
        "action_source",
        "action_spec",
        "autoreset",
        "dt_s",
        "num_envs",
        "observation_spec",
        "render",
        "substeps_per_transition",
        "synchronisation",
    }
)
"""Facts that must be equal for two figures to be comparable."""

CONTACTS = "contacts_per_row"
"""Mean number of contacts in a row, where the workload looks at its states."""
SAMPLED = frozenset({CONTACTS})
"""Facts that are samples of rows at single instants. They vary from run to run on one and the same side, so
that sides are called different only where their runs do not overlap."""

_HASH = "observation_hash"
_RESETS = "reset_rows"
_TOLERANCE = 0.01
"""Measured facts, such as a mean reward, are called different beyond 1 %, unless the plan says otherwise."""
_TOLERANCE_OF_SAMPLES = 0.05
"""Sampled facts are called different beyond 5 %."""


class WorkClass(str, Enum):
    """What a difference in work means for the comparison."""

    BREAKS = "breaks"
    TO_READ = "to_read"


class WorkDifference(NamedTuple):
    """One fact that differs between the sides."""

    name: str
    base: WorkValue
    head: WorkValue
    work_class: WorkClass


class WorkComparison(NamedTuple):
    """What the sides' work has in common."""

    differences: tuple[WorkDifference, ...]
    shown_same: bool
    """Equal observation hashes on all runs of both sides, and nothing that breaks comparability."""
    resets_covered: bool | None
    """Whether any environment was reset in a window; ``None`` if no run tells."""

    def of_class(self, work_class: WorkClass) -> tuple[WorkDifference, ...]:
        """The differences of one class."""
        return tuple(d for d in self.differences if d.work_class is work_class)


def compare_work(evidence: CaseEvidence) -> WorkComparison:
    """Compare what the usable throughput runs of both sides say about their work.

    A fact that one side does not tell is no difference; it only cannot show that the work was the same.
    """
    base, head = evidence.of(Side.BASE), evidence.of(Side.HEAD)
    names = {name for run in (*base, *head) for name in (run.work or {})}
    differences = []
    for name in sorted(names - {_RESETS}):
        ours, theirs = _values(base, name), _values(head, name)
        sampled = name in SAMPLED
        usual = _TOLERANCE_OF_SAMPLES if sampled else _TOLERANCE
        if not ours or not theirs or (sampled and _overlap(ours, theirs)):
            continue
        if _differ(ours, theirs, evidence.tolerances.get(name, usual)):
            kind = WorkClass.BREAKS if name in BREAKING else WorkClass.TO_READ
            differences.append(WorkDifference(name, _typical(ours), _typical(theirs), kind))
    hashes = [_values(side, _HASH) for side in (base, head)]
    all_told = all(runs and len(told) == len(runs) for runs, told in zip((base, head), hashes, strict=True))
    same_hash = all_told and len({value for side in hashes for value in side}) == 1
    breaks = any(difference.work_class is WorkClass.BREAKS for difference in differences)
    resets = [value for side in (base, head) for value in _values(side, _RESETS)]
    return WorkComparison(tuple(differences), same_hash and not breaks, any(resets) if resets else None)


def _values(runs: Sequence[RunSample], name: str) -> list[WorkValue]:
    told = ((run.work or {}).get(name) for run in runs)
    return [value for value in told if value is not None]


def _overlap(base: list[WorkValue], head: list[WorkValue]) -> bool:
    """Return whether the ranges of two sides' numbers have a value in common."""
    ours, theirs = ([float(value) for value in values if value is not None] for values in (base, head))
    return max(min(ours), min(theirs)) <= min(max(ours), max(theirs))


def _differ(base: list[WorkValue], head: list[WorkValue], tolerance: float) -> bool:
    ours, theirs = _typical(base), _typical(head)
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) > tolerance * max(abs(ours), abs(theirs))
    return set(map(repr, base)) != set(map(repr, head))


def _typical(values: list[WorkValue]) -> WorkValue:
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) == len(values) and any(isinstance(v, float) for v in values):
        return sum(numbers) / len(numbers)
    return values[0]
