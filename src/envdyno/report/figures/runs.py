"""The runs of a case: in order of time, pairs joined; and every rate by side."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from envdyno.judge.evidence import RunKind, RunSample, Side
from envdyno.report.figures.style import (
    INK,
    MUTED,
    Spec,
    axis,
    colour,
    figure,
    shape,
)

MAX_RUNS = 400
"""Points of one figure; of more runs, evenly chosen ones are drawn."""
LABELLED_PAIRS = 12


def over_time_figure(runs: Sequence[RunSample], sides: tuple[str, str]) -> Spec | None:
    """Return rates over the time of the experiment: a drift shows as a slope, the order as the labels."""
    values = _values(runs, sides)
    if not values:
        return None
    encoding = {
        "x": {
            "field": "minutes",
            "type": "quantitative",
            "axis": axis("minutes since the first run", tickCount=6),
        },
        "y": {
            "field": "rate",
            "type": "quantitative",
            "axis": axis("transitions/s", format="~s", tickCount=5),
            "scale": {"zero": False},
        },
    }
    points = {**encoding, "color": colour(sides), "shape": shape(sides)}
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "color": MUTED, "strokeWidth": 1, "opacity": 0.7},
            "encoding": {**encoding, "detail": {"field": "pair"}},
        },
        {
            "transform": [{"filter": "!datum.disturbed"}],
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": points,
        },
        {
            "transform": [{"filter": "datum.disturbed"}],
            "mark": {"type": "point", "filled": False, "size": 60, "opacity": 1},
            "encoding": points,
        },
    ]
    if len({row["pair"] for row in values}) <= LABELLED_PAIRS:
        label = {"type": "text", "dy": -10, "fontSize": 9, "color": INK}
        layers.append({"mark": label, "encoding": {**encoding, "text": {"field": "label"}}})
    return figure(layers, values, height=150)


def every_run_figure(runs: Sequence[RunSample], sides: tuple[str, str]) -> Spec | None:
    """Return the rate of every run by side, and each side's median as a tick."""
    values = _values(runs, sides)
    if not values:
        return None
    medians = [
        {"side": side, "rate": statistics.median(rates)}
        for side in sides
        if (rates := [row["rate"] for row in values if row["side"] == side])
    ]
    x = {
        "field": "rate",
        "type": "quantitative",
        "axis": axis("transitions/s", format="~s", tickCount=6),
        "scale": {"zero": False},
    }
    y = {
        "field": "side",
        "type": "nominal",
        "sort": list(sides),
        "axis": axis(None, grid=False, labelLimit=90),
    }
    marks = {"x": x, "y": y, "color": {**colour(sides), "legend": None}}
    layers: list[Spec] = [
        {
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 0.6},
            "encoding": {**marks, "shape": {**shape(sides), "legend": None}},
        },
        {
            "data": {"values": medians},
            "mark": {"type": "tick", "thickness": 2, "size": 26, "color": INK, "opacity": 1},
            "encoding": {"x": x, "y": y},
        },
    ]
    return figure(layers, values, height={"step": 34})


def _values(runs: Sequence[RunSample], sides: tuple[str, str]) -> list[Spec]:
    chosen = [
        run
        for run in runs
        if run.is_usable and run.kind is RunKind.THROUGHPUT and run.transitions_per_s is not None
    ]
    chosen.sort(key=lambda run: run.started_at_s)
    chosen = chosen[:: -(-len(chosen) // MAX_RUNS) or 1]
    start = chosen[0].started_at_s if chosen else 0.0
    return [
        {
            "minutes": round((run.started_at_s - start) / 60, 3),
            "rate": run.transitions_per_s,
            "side": sides[run.side is Side.HEAD],
            "pair": run.pair,
            "label": f"{run.pair + 1}{'AB'[run.side is Side.HEAD]}",
            "disturbed": run.disturbed,
        }
        for run in chosen
    ]
