"""Rate over batch size, a curve for each spread over workers and threads, with its knee."""

from __future__ import annotations

from envdyno.report.figures.style import BASE, GATE, INK, Spec, axis, figure
from envdyno.report.sweeps import Curve, Sweep

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Told apart by most eyes, on light and dark (Okabe and Ito 2008, "Color universal design")."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MAX_CURVES = len(PALETTE)


def sweep_figure(sweep: Sweep) -> Spec:
    """Return the curves, the fastest ones where there are many; each knee is marked, a single one named."""
    fastest = sorted(sweep.curves, key=lambda curve: -max(point.rate for point in curve.points))
    shown = [curve for curve in sweep.curves if curve in fastest[:MAX_CURVES]]
    values = [value for curve in shown for value in _values(curve)]
    sizes = sorted({value["envs"] for value in values})
    x = {
        "field": "envs",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "nice": False},
        "axis": axis("environments in a batch", values=sizes, format=",d"),
    }
    y_axis = axis("transitions/s", format="~s", tickCount=5)
    y = {"field": "rate", "type": "quantitative", "axis": y_axis}
    layers = _one_curve(x, y) if len(shown) == 1 else _several_curves(x, y, [one.label for one in shown])
    return figure(layers, values, height=190 if len(shown) == 1 else 230)


def _values(curve: Curve) -> list[Spec]:
    knee = curve.knee
    return [
        {
            "envs": point.num_envs,
            "rate": point.rate,
            "low": point.low,
            "high": point.high,
            "curve": curve.label,
            "knee": point == knee,
            "text": f"knee: {point.num_envs:,} envs",
        }
        for point in curve.points
    ]


def _span(x: Spec) -> Spec:
    return {"x": x, "y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}


def _one_curve(x: Spec, y: Spec) -> list[Spec]:
    is_knee = [{"filter": "datum.knee"}]
    return [
        {"mark": {"type": "rule", "color": BASE}, "encoding": _span(x)},
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


def _several_curves(x: Spec, y: Spec, labels: list[str]) -> list[Spec]:
    colour = {
        "field": "curve",
        "type": "nominal",
        "scale": {"domain": labels, "range": list(PALETTE[: len(labels)])},
        "legend": {"columns": 2, "columnPadding": 24, "symbolOpacity": 1},
    }
    shape = {**colour, "scale": {"domain": labels, "range": list(SHAPES[: len(labels)])}}
    return [
        {"mark": {"type": "rule", "opacity": 0.6}, "encoding": {**_span(x), "color": colour}},
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": colour}},
        {
            "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
        },
        {
            "transform": [{"filter": "datum.knee"}],
            "mark": {"type": "point", "shape": "circle", "size": 220, "strokeWidth": 2, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour},
        },
    ]
