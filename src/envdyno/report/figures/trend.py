"""A series over time: holes break the line, new levels are marked."""

from __future__ import annotations

from envdyno.record.printable import printable
from envdyno.report.figures.style import BASE, GATE, INK, MUTED, Spec, axis, figure
from envdyno.report.history import HistorySeries

MAX_POINTS = 300


def trend_figure(series: HistorySeries) -> Spec | None:
    """Return the last points of a series; ``None`` where all are holes."""
    points = series.points[-MAX_POINTS:]
    known = [value for point in points for value in (point.value, point.low, point.high) if value is not None]
    if not known:
        return None
    stretch = 0
    values: list[Spec] = []
    for number, point in enumerate(points):
        row: Spec = {"number": number + 1, "hole": point.value is None}
        if point.value is None:
            stretch += 1
            row["value"] = min(known)
        else:
            mark = f"{point.change:+.1%}" if point.change is not None else ""
            row |= {"value": point.value, "low": point.low, "high": point.high, "mark": mark}
            row["label"] = printable(point.label)
        values.append({**row, "stretch": stretch, "begins": point.begins_level})
    scale = {"zero": False, "nice": True}
    count = len(values)
    x_axis = axis("bundles, the earliest first", tickMinStep=1, format="d", tickCount=min(count, 10))
    x = {
        "field": "number",
        "type": "quantitative",
        "axis": x_axis,
        "scale": {"domain": [0.5, count + 0.5], "nice": False},
    }
    y_axis = axis(series.figure.value, format="~s" if known[0] > 100 else ".3~f", tickCount=5)
    y = {"field": "value", "type": "quantitative", "axis": y_axis, "scale": scale}
    there, begins = [{"filter": "!datum.hole"}], [{"filter": "datum.begins"}]
    layers: list[Spec] = [
        {
            "transform": there,
            "mark": {"type": "rule", "color": BASE, "opacity": 0.6},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "transform": there,
            "mark": {"type": "line", "color": BASE, "point": {"filled": True, "color": BASE, "size": 40}},
            "encoding": {"x": x, "y": y, "detail": {"field": "stretch"}},
        },
        {
            "transform": [{"filter": "datum.hole"}],
            "mark": {"type": "point", "shape": "cross", "color": MUTED, "size": 50, "angle": 45},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": begins,
            "mark": {"type": "rule", "color": GATE, "strokeDash": [4, 3], "xOffset": -6},
            "encoding": {"x": x},
        },
        {
            "transform": begins,
            "mark": {"type": "text", "color": INK, "dy": -12, "fontWeight": "bold"},
            "encoding": {"x": x, "y": y, "text": {"field": "mark"}},
        },
    ]
    return figure(layers, values, height=140)
