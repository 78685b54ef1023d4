"""The page of a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envdyno.plan.usage_error import UsageError
from envdyno.record.printable import printable
from envdyno.report.figures.svg import MISSING
from envdyno.report.figures.trend import trend_figure
from envdyno.report.history import HistorySeries
from envdyno.report.history_lines import spread_text, value_text
from envdyno.report.html.rendering import rendered
from envdyno.report.html.tables import Cell, Column, Table, number, text

TEMPLATE = "history.html.j2"
MAX_FIGURES = 80
NOTE = (
    "Each machine by itself, by its fingerprint. Lines: ratios with 95 % intervals, medians with ranges. "
    "A cross is a hole: nothing was measured. A dashed line is where a new level begins."
)


def history_page(series: Sequence[HistorySeries], count: int) -> str:
    """Return the page of some series of ``count`` bundles.

    Raises:
        UsageError: Jinja2 or vl-convert is not installed.
    """
    try:
        from envdyno.report.html.details import drawn
    except ImportError as error:
        raise UsageError(MISSING) from error
    machines: dict[str, dict[str, Any]] = {}
    for place, one in enumerate(series):
        machine = machines.setdefault(
            one.machine, {"name": printable(one.machine), "figures": [], "tables": []}
        )
        side = f" [{one.side}]" if one.side else ""
        title = printable(f"{one.case}{side}: {one.figure.value}")
        if place < MAX_FIGURES:
            machine["figures"] += list(drawn(f"trend-{place}", title, "", trend_figure(one)))
        machine["tables"].append({"title": title, "table": _table(one, f"points-{place}")})
    page = {"count": count, "note": NOTE, "machines": list(machines.values())}
    return rendered(TEMPLATE, "envdyno: history", page)


def _table(series: HistorySeries, name: str) -> Table:
    columns = (
        Column("UTC"),
        Column(series.figure.value, is_number=True),
        Column("spread"),
        Column("what"),
        Column("verdict"),
        Column("new level"),
        Column("bundle"),
        Column("why there is none"),
    )
    rows = []
    for point in series.points:
        change = f"{point.change:+.1%}" if point.change is not None else ""
        rows.append(
            (
                Cell(printable(point.at[:16].replace("T", " ")), None, "date"),
                number(value_text(point.value, series.figure), point.value),
                text(spread_text(point, series.figure)),
                text(point.label),
                text(point.verdict),
                text(change),
                text(point.bundle),
                text(point.why),
            )
        )
    return Table(name, columns, tuple(rows))
