"""Inside the runs: how long steps took, and how the rate went over the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envdyno.judge.evidence import RunKind, RunSample, Side
from envdyno.report.figures.style import Spec, axis, colour, dash, figure
from envdyno.report.step_samples import Quantiles

MAX_LINES = 40


def distribution_figure(found: Mapping[str, Quantiles], sides: tuple[str, str]) -> Spec | None:
    """Return the share of steps that took no longer than a time, a line a side."""
    values = [
        {"side": side, "ms": round(ms, 5), "share": share}
        for side, quantiles in found.items()
        for share, ms in quantiles.points
    ]
    if not values:
        return None
    layer = {
        "mark": {"type": "line", "strokeWidth": 2, "interpolate": "step-after"},
        "encoding": {
            "x": {
                "field": "ms",
                "type": "quantitative",
                "axis": axis("ms a vector step", tickCount=6),
                "scale": {"zero": False},
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "axis": axis("share of steps", format="%", tickCount=5),
                "scale": {"domain": [0, 1]},
            },
            "color": colour(sides),
            "strokeDash": dash(sides),
            "order": {"field": "share"},
        },
    }
    return figure([layer], values, height=150)


def series_figure(runs: Sequence[RunSample], sides: tuple[str, str], window_s: float | None) -> Spec | None:
    """Return the rate of each run over its window, a line a run."""
    chosen = [run for run in runs if run.is_usable and run.kind is RunKind.THROUGHPUT and run.series_per_s]
    chosen = chosen[:: -(-len(chosen) // MAX_LINES) or 1]
    values: list[Spec] = []
    for number, run in enumerate(chosen):
        series = run.series_per_s or ()
        span = (window_s or float(len(series))) / len(series)
        side = sides[run.side is Side.HEAD]
        values += [
            {"run": number, "side": side, "at": round((place + 0.5) * span, 4), "rate": round(rate, 1)}
            for place, rate in enumerate(series)
        ]
    if not values:
        return None
    title = "seconds into the window" if window_s else "sub-window"
    layer = {
        "mark": {"type": "line", "strokeWidth": 1.2, "opacity": 0.75},
        "encoding": {
            "x": {"field": "at", "type": "quantitative", "axis": axis(title, tickCount=6)},
            "y": {
                "field": "rate",
                "type": "quantitative",
                "axis": axis("transitions/s", format="~s", tickCount=5),
                "scale": {"zero": False},
            },
            "color": colour(sides),
            "strokeDash": dash(sides),
            "detail": {"field": "run"},
        },
    }
    return figure([layer], values, height=150)
