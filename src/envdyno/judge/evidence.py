"""What was measured, in the shape that the judge takes: plain frozen values, made from records elsewhere.

Rates are per second, and larger is better. ``None`` always means "not measured"; 0 means zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from envdyno.record.status import Status

__all__ = [
    "CaseEvidence",
    "ExperimentEvidence",
    "Metric",
    "RunKind",
    "RunOrder",
    "RunSample",
    "Side",
    "SideEvidence",
    "UnpairedSide",
    "WorkValue",
]

WorkValue = float | int | str | bool | None
"""One fact about the work that a run did, or about a side's identity; ``None``: not told."""


class Side(str, Enum):
    """The two software states under comparison; a ratio is always head over base."""

    BASE = "base"
    HEAD = "head"


class RunKind(str, Enum):
    """Headline figures come from throughput runs only, phases from attribution runs only."""

    THROUGHPUT = "throughput"
    ATTRIBUTION = "attribution"


class RunOrder(str, Enum):
    """In which order the runs of the two sides were made."""

    PAIRED = "paired"
    """Counterbalanced pairs: AB BA AB ..."""
    BLOCKED = "blocked"
    """All runs of one side, then all of the other: a drift of the machine looks like a change."""


class Metric(str, Enum):
    """A rate that two sides can be compared by."""

    TRANSITIONS_PER_S = "transitions_per_s"
    """The headline."""
    TRANSITIONS_PER_CPU_S = "transitions_per_cpu_s"
    """Beside the headline; repeats better on a shared machine, distorted by pools that spin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSample:
    """One run of one case on one side.

    Raises:
        ValueError: a rate is not a positive finite number, or a run with status ``ok`` has no headline rate.
    """

    case: str
    side: Side
    pair: int
    """Number of the pair, from 0."""
    position: int
    """0 if this run came first in its pair, 1 if second."""
    started_at_s: float
    """Start on a clock that all runs of the experiment share; orders the runs for drift."""
    status: Status = Status.OK
    kind: RunKind = RunKind.THROUGHPUT
    attempt: int = 0
    """0 for the first try, 1 for its first repeat, ..."""
    transitions_per_s: float | None = None
    transitions_per_cpu_s: float | None = None
    vector_step_ms: float | None = None
    """Elapsed window time over completed vector steps; the whole that phases are parts of."""
    vector_step_cpu_ms: float | None = None
    config_hash: str | None = None
    """Hash of the run's effective configuration; runs of one side and case must agree."""
    canary_per_s: float | None = None
    """Speed of the fixed load that runs beside each run; in any unit, larger is faster."""
    edge_share: float | None = None
    """Transitions of one vector step of every worker as a share of all: how finely the window counts."""
    foreign_load_cores: float | None = None
    disturbed: bool = False
    """The foreign load was above its limit. Set from the load alone, never from the result."""
    series_per_s: tuple[float, ...] | None = None
    """Throughput of equally long sub-windows of the window, in order of time."""
    phases_ms: Mapping[str, float] | None = None
    """Wall time per vector step by phase path, such as ``env_step/physics``; attribution runs only."""
    phases_cpu_ms: Mapping[str, float] | None = None
    hardware: Mapping[str, float] | None = None
    """What the processor counted, per transition and per cycle; see :mod:`envdyno.judge.hardware_change`."""
    work: Mapping[str, WorkValue] | None = None
    """Facts about the work done, see :mod:`envdyno.judge.work`."""
    reason: str | None = None
    """Why the run did not end well."""

    def __post_init__(self) -> None:
        for name in ("transitions_per_s", "transitions_per_cpu_s", "vector_step_ms", "canary_per_s"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(
                    f"{name} of {self.case}, side {self.side.value}, pair {self.pair} is {value!r}; "
                    "it must be a positive finite number, or None where it was not measured."
                )
        if self.is_usable and self.kind is RunKind.THROUGHPUT and self.transitions_per_s is None:
            raise ValueError(
                f"The run of {self.case}, side {self.side.value}, pair {self.pair} is 'ok' and has no "
                "transitions_per_s. Give the figure, or the status that says why there is none."
            )

    @property
    def is_usable(self) -> bool:
        """Whether the run has figures that may be judged."""
        return self.status is Status.OK

    def rate(self, metric: Metric) -> float | None:
        """The run's rate, or ``None`` where it was not measured."""
        return self.transitions_per_s if metric is Metric.TRANSITIONS_PER_S else self.transitions_per_cpu_s


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEvidence:
    """All runs of one case, in any order; a planned case that never ran has none."""

    case: str
    runs: tuple[RunSample, ...] = ()
    planned_pairs: int | None = None
    """How many pairs the plan asked for at least; ``None`` if nobody said."""
    tolerances: Mapping[str, float] = field(default_factory=dict)
    """By fact of work, the relative difference from which on the sides are told to differ."""
    not_aligned: str | None = None
    """Why the sides cannot be compared, where that was found before anything was measured."""

    def __post_init__(self) -> None:
        strangers = sorted({run.case for run in self.runs} - {self.case})
        if strangers:
            raise ValueError(
                f"The evidence for {self.case} holds runs of other cases: {', '.join(strangers)}."
            )

    def of(self, side: Side, kind: RunKind = RunKind.THROUGHPUT) -> tuple[RunSample, ...]:
        """The usable runs of one side and kind, in order of time."""
        chosen = (run for run in self.runs if run.side is side and run.kind is kind and run.is_usable)
        return tuple(sorted(chosen, key=lambda run: (run.started_at_s, run.attempt)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SideEvidence:
    """What is known of the software of one side."""

    name: str = ""
    revision: str | None = None
    """Full commit id, or the version that was loaded; ``None``: it could not be found out."""
    dirty: bool = False
    """The tree differed from its revision."""
    identity: Mapping[str, WorkValue] = field(default_factory=dict)
    """Fields that must match for the sides to be comparable, such as CPU model and configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentEvidence:
    """Everything that one experiment measured."""

    cases: tuple[CaseEvidence, ...]
    base: SideEvidence = field(default_factory=SideEvidence)
    head: SideEvidence = field(default_factory=SideEvidence)
    order: RunOrder = RunOrder.PAIRED
    machine: str | None = None
    """Key of the machine's fingerprint; noise floors are stored under it."""
    measured_at_s: float | None = None
    """Unix time of the first run; the age of a baseline is counted from it."""
    declared_differences: frozenset[str] = frozenset()
    """Identity fields that the plan itself made differ, such as a package version."""
    sides_load_same_code: bool = False
    """Both sides were proven to have loaded the same code."""
    is_aa: bool = False
    """The same software on both sides on purpose, to measure noise."""

    def __post_init__(self) -> None:
        names = [case.case for case in self.cases]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"These cases appear more than once in one experiment: {', '.join(twice)}.")

    def case(self, name: str) -> CaseEvidence | None:
        """The evidence for a case, or ``None`` if the experiment has none."""
        return next((case for case in self.cases if case.case == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpairedSide:
    """Independent rates of one side with no partner on the other, for instance from another tool's file."""

    name: str
    rates: tuple[float, ...]
    """Larger is better; times must be inverted before."""
    source: str
    """Where they come from, for the label: ``hyperfine``, ``bundle``, ..."""
    identity: Mapping[str, WorkValue] = field(default_factory=dict)
    measured_at_s: float | None = None
    failed: int = 0
    """Runs that failed and have no rate."""
    why_empty: str | None = None
    """Why there are no rates, if there are none."""

    def __post_init__(self) -> None:
        wrong = [rate for rate in self.rates if not (math.isfinite(rate) and rate > 0)]
        if wrong:
            raise ValueError(
                f"Rates must be positive and finite; {self.name} of {self.source} has {wrong[0]!r}."
            )
