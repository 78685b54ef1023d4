r"""Prometheus text format 0.0.4, for the node exporter's textfile collector or a push gateway.

See https://prometheus.io/docs/instrumenting/exposition_formats/. Samples carry no time stamp, which the
textfile collector refuses; the time of the last run is a metric of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name
from envdyno.export.series import median_of, place_of, series_of
from envdyno.judge.from_records import seconds
from envdyno.judge.verdicts import Verdict


class Metric(NamedTuple):
    """A metric family: all its samples stand together, under its help."""

    name: str
    help: str
    samples: list[tuple[dict[str, str], float]]


def prometheus_text(material: Material) -> str:
    """Return median and range of every case on every side, ratios with their intervals, and verdicts."""
    metrics = [*_of_series(material), *_of_judgements(material), *_of_runs(material)]
    return "".join(line + "\n" for metric in metrics if metric.samples for line in _lines(metric))


def _of_series(material: Material) -> Iterator[Metric]:
    rates = Metric("envdyno_transitions_per_second", "Completed transitions over elapsed window time.", [])
    steps = Metric("envdyno_vector_step_seconds", "Mean time of a vector step of one worker.", [])
    per_cpu = Metric("envdyno_transitions_per_cpu_second", "Transitions per second of CPU time.", [])
    for series in series_of(material):
        labels = _labels(series.case, series.side)
        for metric, values in (
            (rates, series.rates),
            (steps, series.step_times_s),
            (per_cpu, series.rates_per_cpu_s),
        ):
            middle = median_of(values)
            if middle is not None:
                metric.samples.append(({**labels, "stat": "median"}, middle))
                metric.samples.append(({**labels, "stat": "min"}, min(values)))
                metric.samples.append(({**labels, "stat": "max"}, max(values)))
    yield from (rates, steps, per_cpu)


def _of_judgements(material: Material) -> Iterator[Metric]:
    ratios = Metric("envdyno_ratio", "Rate of a side over that of the base, with its 95 % interval.", [])
    gates = Metric("envdyno_gate_min_ratio", "The bound that a ratio is held against.", [])
    verdicts = Metric("envdyno_verdict", "1 for the verdict that a case has, 0 for the others.", [])
    for judgement in material.judgements:
        for case in judgement.report.cases:
            labels = _labels(plain_name(case.case), plain_name(judgement.other))
            if case.estimate is not None:
                ratios.samples.append(({**labels, "bound": "estimate"}, case.estimate.ratio))
                if case.estimate.interval is not None:
                    ratios.samples.append(({**labels, "bound": "low"}, case.estimate.interval.low))
                    ratios.samples.append(({**labels, "bound": "high"}, case.estimate.interval.high))
            if material.is_gated:
                gates.samples.append((labels, case.min_ratio))
                for verdict in Verdict:
                    sample = {**labels, "verdict": verdict.value}
                    verdicts.samples.append((sample, float(case.verdict is verdict)))
    yield from (ratios, gates, verdicts)


def _of_runs(material: Material) -> Iterator[Metric]:
    last = Metric("envdyno_last_run_timestamp_seconds", "Start of the last run, in Unix time.", [])
    runs = Metric("envdyno_runs", "Runs by how they ended.", [])
    counts = Counter((place_of(record), record.status.value) for record in material.records)
    for ((case, side), status), count in counts.items():
        runs.samples.append(({**_labels(case, side), "status": status}, float(count)))
    stamps = [seconds(record.started_at) for record in material.records]
    if stamps:
        last.samples.append(({}, max(stamps)))
    yield from (runs, last)


def _labels(case: str, side: str | None) -> dict[str, str]:
    return {"case": case} if side is None else {"case": case, "side": side}


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} gauge"
    for labels, value in metric.samples:
        inner = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        yield f"{metric.name}{{{inner}}} {value!r}" if inner else f"{metric.name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
