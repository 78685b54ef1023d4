"""JSON for github-action-benchmark with ``tool: customBiggerIsBetter``.

See https://github.com/benchmark-action/github-action-benchmark: a list of name, unit, value, and range and
extra as text.
"""

from __future__ import annotations

import json
from typing import Any

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name
from envdyno.export.series import Series, median_of, series_of
from envdyno.record.counted import counted


def github_action_text(material: Material) -> str:
    """Return the median of every case on every side, and the ratio of every case."""
    entries = [_of_series(series) for series in series_of(material)]
    for judgement in material.judgements:
        for case in judgement.report.cases:
            if case.estimate is None:
                continue
            entry: dict[str, Any] = {
                "name": _name(f"{plain_name(case.case)} [{plain_name(judgement.other)} over base]"),
                "unit": "ratio",
                "value": case.estimate.ratio,
                "extra": counted(case.estimate.n, "pair"),
            }
            if case.estimate.interval is not None:
                entry["range"] = f"[{case.estimate.interval.low:.4g}, {case.estimate.interval.high:.4g}]"
            if material.is_gated:
                entry["extra"] += f"\n{case.verdict.value} ({case.code.value})"
            entries.append(entry)
    return json.dumps(entries, indent=1, allow_nan=False) + "\n"


def _of_series(series: Series) -> dict[str, Any]:
    rates = series.rates
    return {
        "name": _name(series.name),
        "unit": "transitions/s",
        "value": median_of(rates),
        "range": f"[{min(rates):.6g}, {max(rates):.6g}]",
        "extra": f"median of {counted(len(rates), 'run')}",
    }


def _name(text: str) -> str:
    """Return a name that stays inside a cell of code: the action writes it as it is.

    In its tables a backtick would end the code, so that what follows could mention people; a bar ends a cell.
    """
    return text.replace("`", "\\x60").replace("|", "\\x7c")
