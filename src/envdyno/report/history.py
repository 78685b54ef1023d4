"""Many bundles as series over time: ratios, and rates of one machine, holes left as holes."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from envdyno.experiment.material import Material
from envdyno.judge.from_records import key_of_machine
from envdyno.judge.from_runs import case_name
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.change_points import change_points


class Figure(str, Enum):
    """What a series is of."""

    RATIO = "ratio"
    RATE = "transitions/s"


@dataclass(frozen=True)
class HistoryPoint:
    """What one bundle says; ``value`` is ``None`` for a hole, with its reason."""

    at: str
    """When it was measured, in UTC."""
    bundle: str
    value: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""
    verdict: str = ""
    label: str = ""
    """Of the side that was measured, such as the start of its commit."""
    begins_level: bool = False
    """Whether a new level begins here."""
    change: float | None = None
    """Where one begins: its level over the one before, less one."""


class HistorySeries(NamedTuple):
    """One figure of one case over the bundles of one machine, the earliest first."""

    machine: str
    """The start of the key of the machine's fingerprint, and its CPU."""
    case: str
    side: str
    figure: Figure
    points: tuple[HistoryPoint, ...]


class Source(NamedTuple):
    """One bundle, and what machine it is of."""

    material: Material
    machine: str
    at: str


def history_of(materials: Sequence[Material]) -> tuple[HistorySeries, ...]:
    """Return all series, ratios before rates.

    Absolute figures never travel between machines, and a ratio may differ between them: each fingerprint has
    series of its own. A bundle of the same machine that has nothing of a case is a hole in its series.
    """
    sources = sorted((_source(one) for one in materials), key=lambda source: source.at)
    found: dict[tuple[str, Figure, str, str], dict[int, HistoryPoint]] = {}
    for number, source in enumerate(sources):
        for figure, case, side, point in _points(source):
            found.setdefault((source.machine, figure, case, side), {})[number] = point
    series = [
        HistorySeries(machine, case, side, figure, _with_holes(points, sources, machine))
        for (machine, figure, case, side), points in found.items()
    ]
    return tuple(sorted(series, key=lambda one: (one.machine, one.figure is Figure.RATE, one.case, one.side)))


def _source(material: Material) -> Source:
    at = min((record.started_at for record in material.records), default="")
    if not at and material.head is not None:
        at = material.head.created_at
    found = next((one.fingerprint for one in material.records if one.fingerprint is not None), None)
    identity = found.identity if found else (material.head.machine if material.head else {})
    key = key_of_machine(identity)[:8] if identity else "unknown"
    return Source(material, f"{identity.get('cpu_model') or 'unknown CPU'} ({key})", at)


def _points(source: Source) -> Iterator[tuple[Figure, str, str, HistoryPoint]]:
    material, at = source.material, source.at
    head = material.head
    if head is None or head.plan.get("sweep"):
        yield from _rates_of_runs(source)
        return
    labels = {side.name: side.label for side in head.sides}
    for judgement in material.judgements:
        for case in judgement.report.cases:
            verdict = case.verdict.value if material.is_gated else ""
            estimate = case.estimate
            interval = estimate.interval if estimate else None
            why = "" if estimate else head.cannot_run.get(case.case) or case.message
            point = HistoryPoint(
                at=at,
                bundle=material.name,
                value=estimate.ratio if estimate else None,
                low=interval.low if interval else None,
                high=interval.high if interval else None,
                why=why,
                verdict=verdict,
                label=labels[judgement.other],
            )
            yield Figure.RATIO, case.case, judgement.other, point
            base = head.sides[0].name
            for side, summary in ((base, case.base), (judgement.other, case.head)):
                rate = HistoryPoint(
                    at=at,
                    bundle=material.name,
                    value=summary.median,
                    low=summary.minimum,
                    high=summary.maximum,
                    why="" if summary.median is not None else why or "it has no run that counts",
                    label=labels[side],
                )
                yield Figure.RATE, case.case, side, rate


def _rates_of_runs(source: Source) -> Iterator[tuple[Figure, str, str, HistoryPoint]]:
    by_case: dict[str, list[RunRecord]] = {}
    for record in source.material.records:
        if record.phases is None:
            by_case.setdefault(case_name(record), []).append(record)
    for case, records in by_case.items():
        rates = [one.throughput.transitions_per_s for one in records if one.throughput]
        ended = records[-1].failure
        why = ended.message if ended else f"it ended as {records[-1].status.value}"
        point = HistoryPoint(
            at=source.at,
            bundle=source.material.name,
            value=statistics.median(rates) if rates else None,
            low=min(rates, default=None),
            high=max(rates, default=None),
            why="" if rates else why,
            label="" if records[-1].status is Status.OK else records[-1].status.value,
        )
        yield Figure.RATE, case, "", point


def _with_holes(
    points: dict[int, HistoryPoint], sources: Sequence[Source], machine: str
) -> tuple[HistoryPoint, ...]:
    """Fill in the bundles that say nothing, and mark where levels begin."""
    filled = [
        points.get(number)
        or HistoryPoint(at=source.at, bundle=source.material.name, value=None, why="not part of this bundle")
        for number, source in enumerate(sources)
        if source.machine == machine
    ]
    known = [(place, point.value) for place, point in enumerate(filled) if point.value]
    values = [value for _, value in known]
    starts = [0, *change_points(values), len(values)]
    levels = [
        statistics.geometric_mean(values[first:last])
        for first, last in itertools.pairwise(starts)
        if last > first
    ]
    for number, start in enumerate(starts[1:-1], 1):
        place = known[start][0]
        changed = levels[number] / levels[number - 1] - 1
        filled[place] = HistoryPoint(**{**vars(filled[place]), "begins_level": True, "change": changed})
    return tuple(filled)
