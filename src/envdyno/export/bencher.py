"""Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format/.

``throughput`` (operations a second, larger is better) and ``latency`` (ns, smaller is better) are Bencher's
own measures; the others have to be made in the project once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name, short_name
from envdyno.export.series import median_of, series_of

MAX_NAME_BYTES = 1024
"""Of a benchmark's name. Bencher refuses a whole report for one that is longer."""


def bencher_text(material: Material) -> str:
    """Return median and range of every case on every side, and the ratio of every case with its interval."""
    body: dict[str, dict[str, Any]] = {}
    for series in series_of(material):
        measures = {
            "throughput": _metric(series.rates),
            "latency": _metric([time * 1e9 for time in series.step_times_s]),
            "transitions-per-cpu-second": _metric(series.rates_per_cpu_s),
        }
        body[short_name(series.name, MAX_NAME_BYTES)] = {
            name: metric for name, metric in measures.items() if metric is not None
        }
    for judgement in material.judgements:
        for case in judgement.report.cases:
            if case.estimate is not None:
                interval = case.estimate.interval
                bounds = (
                    {} if interval is None else {"lower_value": interval.low, "upper_value": interval.high}
                )
                name = f"{plain_name(case.case)} [{plain_name(judgement.other)} over base]"
                body[short_name(name, MAX_NAME_BYTES)] = {"ratio": {"value": case.estimate.ratio, **bounds}}
    return json.dumps(body, indent=1, allow_nan=False) + "\n"


def _metric(values: Sequence[float]) -> dict[str, float] | None:
    middle = median_of(values)
    if middle is None:
        return None
    return {"value": middle, "lower_value": min(values), "upper_value": max(values)}
