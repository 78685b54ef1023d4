"""What all figures share: sizes, the two sides, and colours that the page decides.

Colours are CSS variables, so that one SVG suits a light and a dark page. Sides differ in shape and dash as
well as in colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
"""Names the language; nothing is fetched."""
WIDTH = 330
"""Of the plot itself, in px: a figure fits a phone without being shrunk much."""
INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--grid)"
BASE, HEAD, GATE = "var(--base)", "var(--head)", "var(--gate)"
FONT = "system-ui, sans-serif"
LABEL_LIMIT = 170

Spec = dict[str, Any]

CONFIG: Spec = {
    "aria": False,  # the page describes each figure in words; a label for every mark would triple its size
    "background": None,
    # Whoever reads the page may have a wider font than the one that labels were measured with.
    "padding": {"left": 16, "right": 10, "top": 4, "bottom": 4},
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 9,
        "labelLimit": LABEL_LIMIT,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": MUTED,
        "orient": "top",
        "title": None,
        "labelFontSize": 11,
        "symbolSize": 70,
        "labelLimit": LABEL_LIMIT,
    },
    "text": {"color": INK, "fontSize": 11},
    "rule": {"color": MUTED},
}


def figure(layers: Sequence[Spec], values: Sequence[Spec], *, height: int | Spec) -> Spec:
    """Return a specification of layers over one table."""
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": height,
        "data": {"values": list(values)},
        "layer": list(layers),
        "config": CONFIG,
    }


def colour(sides: Sequence[str]) -> Spec:
    """Return the encoding of sides as colours."""
    return {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": list(sides), "range": [BASE, HEAD][: len(sides)]},
    }


def shape(sides: Sequence[str]) -> Spec:
    """Return the encoding of sides as shapes, which share their legend with the colours."""
    return {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": list(sides), "range": ["circle", "triangle-up"][: len(sides)]},
    }


def dash(sides: Sequence[str]) -> Spec:
    """Return the encoding of sides as solid and dashed lines."""
    return {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": list(sides), "range": [[1, 0], [5, 3]][: len(sides)]},
    }


def axis(title: str | None, **settings: Any) -> Spec:
    """Return an axis with a title."""
    return {"title": title, **settings}
