"""Runs that differ in batch size, workers and threads only: a curve for each spread, and its knee."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from envdyno.judge.knee import NEAR_BEST, knee_of
from envdyno.record.counted import counted
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import scouted_num_envs
from envdyno.record.status import Status

LEAST_SIZES = 3
"""So many batch sizes make a curve."""


class SweepPoint(NamedTuple):
    """All runs of one batch size."""

    num_envs: int
    rate: float
    """Median, in transitions a second."""
    low: float
    high: float


class Spread(NamedTuple):
    """Workers in all, and threads of each; 0 threads where nobody asked for a number."""

    workers: int
    threads: int

    def __str__(self) -> str:
        workers = counted(self.workers, "worker")
        return f"{workers} x {counted(self.threads, 'thread')}" if self.threads else workers


class Curve(NamedTuple):
    """One spread over workers and threads, the smallest batch first."""

    label: str
    points: tuple[SweepPoint, ...]

    @property
    def knee(self) -> SweepPoint:
        """The smallest batch that is near the best."""
        size = knee_of({point.num_envs: point.rate for point in self.points})
        return next(point for point in self.points if point.num_envs == size)


class Sweep(NamedTuple):
    """One workload over batch sizes."""

    name: str
    curves: tuple[Curve, ...]

    @property
    def caption(self) -> str:
        """What the marks on the curves are, in a sentence."""
        what = f"the smallest batch within {100 * (1 - NEAR_BEST):.0f} % of the curve's best."
        if len(self.curves) == 1:
            return f"The knee, at {self.curves[0].knee.num_envs:,}, is {what}"
        return f"The ring on each curve is its knee, {what}"


def sweeps_of(records: Sequence[RunRecord]) -> tuple[Sweep, ...]:
    """Return the sweeps among some records; three batch sizes or more make a curve."""
    rates: dict[str, dict[Spread, dict[int, list[float]]]] = {}
    for record in records:
        found = record.throughput
        if record.status is not Status.OK or found is None or record.phases is not None or _no_part(record):
            continue
        curves = rates.setdefault(_name(record), {})
        curves.setdefault(_spread(record), {}).setdefault(record.case.num_envs, []).append(
            found.transitions_per_s
        )
    sweeps = (Sweep(name, tuple(_curves(curves))) for name, curves in rates.items())
    return tuple(sweep for sweep in sweeps if sweep.curves)


def _curves(curves: dict[Spread, dict[int, list[float]]]) -> Sequence[Curve]:
    return [
        Curve(
            str(spread),
            tuple(
                SweepPoint(envs, statistics.median(found), min(found), max(found))
                for envs, found in sorted(by_size.items())
            ),
        )
        for spread, by_size in sorted(curves.items())
        if len(by_size) >= LEAST_SIZES
    ]


def _no_part(record: RunRecord) -> bool:
    """Return whether a run only prepared a sweep, or is repeated."""
    entry = record.experiment
    return entry is not None and (scouted_num_envs(entry.case) is not None or not entry.final)


def _name(record: RunRecord) -> str:
    options = "".join(f" {key}={value}" for key, value in sorted(record.case.options.items()))
    side = f" [{record.experiment.side}]" if record.experiment else ""
    return f"{record.case.workload}{options}{side}"


def _spread(record: RunRecord) -> Spread:
    return Spread(len(record.case.shares), record.case.threads or 0)
