"""The ratio of every case with its interval, against the gate."""

from __future__ import annotations

from collections.abc import Sequence

from envdyno.judge.case_verdict import CaseVerdict
from envdyno.record.printable import printable
from envdyno.report.figures.style import GATE, INK, MUTED, WIDTH, Spec, axis, figure

ROW_PX = 24
NAME_PX = 0.85 * WIDTH
"""Of a name above its row; fonts of readers are wider than the one it is measured with here."""
MAX_CASES = 60
NARROWEST, WIDEST = 1 / 3, 3.0


def ratio_figure(cases: Sequence[CaseVerdict], *, judged: bool) -> Spec | None:
    """Return the figure; ``None`` where no case has a ratio. Intervals are cut off at a third and three."""
    values: list[Spec] = []
    for case in cases[:MAX_CASES]:
        estimate = case.estimate
        if estimate is None:
            continue
        interval = estimate.interval
        row: Spec = {
            "case": printable(case.case),
            "ratio": _cut(estimate.ratio),
            "text": f"{estimate.ratio:.3f}" + (f"  {case.verdict.value}" if judged else ""),
        }
        if judged:
            row["gate"] = _cut(case.min_ratio)
        if interval is not None:
            row |= {"low": _cut(interval.low), "high": _cut(interval.high)}
        values.append(row)
    if not values:
        return None
    marks = [row[name] for row in values for name in ("ratio", "low", "high", "gate") if name in row]
    scale = {"type": "log", "domain": [min(*marks, 0.95) * 0.99, max(*marks, 1.05) * 1.01], "nice": False}
    x = {"type": "quantitative", "scale": scale}
    y = {"field": "case", "type": "nominal", "sort": None, "axis": None}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeDash": [2, 3]},
            "data": {"values": [{"one": 1}]},
            "encoding": {"x": {"field": "one", **x}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": INK},
            "encoding": {
                "x": {"field": "low", **x, "axis": axis("head over base; dashed: no change")},
                "x2": {"field": "high"},
                "y": y,
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "color": INK, "opacity": 1},
            "encoding": {"x": {"field": "ratio", **x}, "y": y},
        },
        {
            "mark": {"type": "text", "align": "left", "dy": -9, "x": 0, "limit": NAME_PX, "color": MUTED},
            "encoding": {"text": {"field": "case"}, "y": y},
        },
        {
            "mark": {"type": "text", "align": "left", "x": WIDTH + 6, "fontWeight": "bold"},
            "encoding": {"text": {"field": "text"}, "y": y},
        },
    ]
    if judged:
        tick = {"type": "tick", "color": GATE, "thickness": 3, "size": 16, "opacity": 1}
        layers.append({"mark": tick, "encoding": {"x": {"field": "gate", **x}, "y": y}})
    return figure(layers, values, height={"step": ROW_PX + 10})


def _cut(ratio: float) -> float:
    return min(WIDEST, max(NARROWEST, ratio))
