"""Rate over batch size, with the knee."""

from __future__ import annotations

from envdyno.report.figures.style import BASE, GATE, INK, Spec, axis, figure
from envdyno.report.sweeps import Sweep


def sweep_figure(sweep: Sweep) -> Spec:
    """Return the curve; the knee is marked and named."""
    knee = sweep.knee
    values = [
        {
            "envs": point.num_envs,
            "rate": point.rate,
            "low": point.low,
            "high": point.high,
            "knee": point == knee,
            "text": f"knee: {point.num_envs:,} envs",
        }
        for point in sweep.points
    ]
    sizes = [point.num_envs for point in sweep.points]
    x = {
        "field": "envs",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "nice": False},
        "axis": axis("environments in a batch", values=sizes, format=",d"),
    }
    y_axis = axis("transitions/s", format="~s", tickCount=5)
    y = {"field": "rate", "type": "quantitative", "axis": y_axis}
    is_knee = [{"filter": "datum.knee"}]
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "color": BASE},
            "encoding": {"x": x, "y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "color": BASE, "point": {"filled": True, "color": BASE, "size": 50}},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": is_knee,
            "mark": {"type": "point", "size": 220, "color": GATE, "strokeWidth": 2, "opacity": 1},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": is_knee,
            "mark": {"type": "text", "dy": 22, "color": INK},
            "encoding": {"x": x, "y": y, "text": {"field": "text"}},
        },
    ]
    return figure(layers, values, height=190)
