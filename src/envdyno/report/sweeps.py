"""Runs that differ in their batch size only: a curve, and its knee."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

NEAR_BEST = 0.95
"""The knee is the smallest batch whose rate is this part of the best rate."""


class SweepPoint(NamedTuple):
    """All runs of one batch size."""

    num_envs: int
    rate: float
    """Median, in transitions a second."""
    low: float
    high: float


class Sweep(NamedTuple):
    """One workload over batch sizes, the smallest first."""

    name: str
    points: tuple[SweepPoint, ...]

    @property
    def knee(self) -> SweepPoint:
        """The smallest batch that is near the best."""
        best = max(point.rate for point in self.points)
        return next(point for point in self.points if point.rate >= NEAR_BEST * best)


def sweeps_of(records: Sequence[RunRecord]) -> tuple[Sweep, ...]:
    """Return the sweeps among some records; three batch sizes or more make one."""
    rates: dict[str, dict[int, list[float]]] = {}
    for record in records:
        found = record.throughput
        if record.status is not Status.OK or found is None or record.phases is not None:
            continue
        options = "".join(f" {key}={value}" for key, value in sorted(record.case.options.items()))
        side = f" [{record.experiment.side}]" if record.experiment else ""
        name = f"{record.case.workload}{options}{side}"
        rates.setdefault(name, {}).setdefault(record.case.num_envs, []).append(found.transitions_per_s)
    return tuple(
        Sweep(
            name,
            tuple(
                SweepPoint(envs, statistics.median(found), min(found), max(found))
                for envs, found in sorted(by_size.items())
            ),
        )
        for name, by_size in rates.items()
        if len(by_size) >= 3
    )
