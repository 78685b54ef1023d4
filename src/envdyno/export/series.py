"""The figures that are exported: by case and side, those of the runs that count."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name
from envdyno.judge.from_runs import case_name
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

THROUGHPUT = "throughput"


@dataclass(frozen=True)
class Series:
    """The throughput runs of one case on one side, in the order in which they ended."""

    case: str
    side: str | None
    """``None`` for runs of no experiment."""
    records: tuple[RunRecord, ...]
    """At least one; all have a figure."""

    @property
    def name(self) -> str:
        """Case and side in one line."""
        return self.case if self.side is None else f"{self.case} [{self.side}]"

    @property
    def rates(self) -> tuple[float, ...]:
        """Transitions a second, one a run."""
        return tuple(one.throughput.transitions_per_s for one in self.records if one.throughput)

    @property
    def rates_per_cpu_s(self) -> tuple[float, ...]:
        """Transitions per second of CPU time, of the runs that have it."""
        found = (one.throughput.transitions_per_cpu_s for one in self.records if one.throughput)
        return tuple(rate for rate in found if rate is not None)

    @property
    def step_times_s(self) -> tuple[float, ...]:
        """Mean time of a vector step of one worker in seconds, of the runs that have it."""
        return tuple(time for one in self.records if (time := step_time_s(one)) is not None)


def step_time_s(record: RunRecord) -> float | None:
    """Return the mean time of a vector step of one worker: elapsed time over the steps of one worker."""
    if record.throughput is None or record.totals is None or not record.totals.vector_steps:
        return None
    return record.throughput.elapsed_s * max(1, len(record.workers)) / record.totals.vector_steps


def counts(record: RunRecord) -> bool:
    """Return whether a run's figure is exported: a throughput run that ended well and is not repeated."""
    is_final = record.experiment is None or record.experiment.final
    measured = record.throughput is not None and record.throughput.transitions_per_s > 0
    return record.status is Status.OK and record.case.timing == THROUGHPUT and is_final and measured


def place_of(record: RunRecord) -> tuple[str, str | None]:
    """Return case and side of a run, as plain names."""
    if record.experiment is None:
        return plain_name(case_name(record)), None
    return plain_name(record.experiment.case), plain_name(record.experiment.side)


def series_of(material: Material) -> tuple[Series, ...]:
    """Return the figures by case and side, in the order of the plan, else of the records."""
    found: dict[tuple[str, str | None], list[RunRecord]] = {}
    if material.head is not None:
        sides = [plain_name(side.name) for side in material.head.sides]
        found = {(plain_name(case), side): [] for case in material.head.cases for side in sides}
    for record in material.records:
        if counts(record):
            found.setdefault(place_of(record), []).append(record)
    return tuple(Series(case, side, tuple(runs)) for (case, side), runs in found.items() if runs)


def without_figure(material: Material) -> Iterator[tuple[str, str]]:
    """Yield the series that have no figure, and why."""
    measured = {(one.case, one.side) for one in series_of(material)}
    reasons: dict[tuple[str, str | None], str] = {}
    if material.head is not None:
        told = {**material.head.misaligned, **material.head.cannot_run}
        planned = [(case, side.name) for case in material.head.cases for side in material.head.sides]
        reasons = {(plain_name(case), plain_name(side)): told.get(case, "") for case, side in planned}
    for record in material.records:
        found = place_of(record)
        if record.case.timing == THROUGHPUT and not reasons.get(found):
            ending = f"its runs ended as {record.status.value}"
            reasons[found] = record.failure.message if record.failure else ending
    for (case, side), why in reasons.items():
        if (case, side) not in measured:
            yield Series(case, side, ()).name, plain_name(why or "it has no run")


def median_of(values: Iterable[float]) -> float | None:
    """Return the median; ``None`` of no values."""
    known = list(values)
    return statistics.median(known) if known else None
