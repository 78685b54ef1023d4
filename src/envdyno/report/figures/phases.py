"""Where the change of a vector step comes from: a waterfall from base to head."""

from __future__ import annotations

from envdyno.judge.attribution import Attribution
from envdyno.record.printable import printable
from envdyno.report.figures.style import BASE, HEAD, INK, MUTED, Spec, axis, figure
from envdyno.report.phase_changes import signed_ms

LESS = "var(--less)"
MORE = "var(--more)"
MAX_PARTS = 24


def waterfall_figure(found: Attribution, sides: tuple[str, str]) -> Spec | None:
    """Return the figure: the base's step, each part's change as a floating bar, the other side's step.

    The last bar is the base's median and the mean change together, so that the parts add up to it.
    """
    base, delta = found.total.base_ms, found.total.delta_ms
    if base is None or delta is None:
        return None
    rows: list[Spec] = [_row(sides[0], 0.0, base, f"{base:.2f} ms", BASE)]
    at = base
    parts = [change for change in found.phases if change.node.is_part and change.delta_ms is not None]
    for change in parts[:MAX_PARTS]:
        step = change.delta_ms or 0.0
        rows.append(
            _row(printable(change.node.path), at, at + step, signed_ms(step), MORE if step > 0 else LESS)
        )
        at += step
    rows.append(_row(sides[1], 0.0, base + delta, f"{base + delta:.2f} ms", HEAD))
    # Two names may read alike; numbers keep the rows apart and in order.
    for number, row in enumerate(rows):
        row["name"] = f"{number:02d} {row['name']}"
    y = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "axis": axis(None, labelExpr="slice(datum.label, 3)", grid=False, labelLimit=150),
    }
    longest = max(max(row["from"], row["to"]) for row in rows)
    scale = {"domain": [0, longest * 1.18 or 1.0], "nice": False}
    x_axis = axis("ms a vector step, attribution runs", tickCount=5)
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "stroke": INK, "strokeWidth": 0.5, "height": 12},
            "encoding": {
                "x": {"field": "from", "type": "quantitative", "axis": x_axis, "scale": scale},
                "x2": {"field": "to"},
                "y": y,
                "color": {"field": "paint", "type": "nominal", "scale": None},
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 5, "color": MUTED},
            "encoding": {
                "x": {"field": "end", "type": "quantitative", "scale": scale},
                "y": y,
                "text": {"field": "text"},
            },
        },
    ]
    return figure(layers, rows, height={"step": 20})


def _row(name: str, start: float, end: float, text: str, paint: str) -> Spec:
    return {"name": name, "from": start, "to": end, "end": max(start, end), "text": text, "paint": paint}
