"""The history in the terminal: a table for each series."""

from __future__ import annotations

from collections.abc import Sequence

from envdyno.report.columns import aligned
from envdyno.report.history import Figure, HistoryPoint, HistorySeries
from envdyno.report.sentences import wrapped
from envdyno.report.verdict_table import UNKNOWN, rate_text

CELLS = 20
RATIO_NOTE = "ratio: head over base with 95 % interval; transitions/s: median with range of the runs"


def history_lines(series: Sequence[HistorySeries], width: int = 80) -> list[str]:
    """Return all series; where a new level begins the row says by how much it changed."""
    lines: list[str] = []
    machine = ""
    for one in series:
        if one.machine != machine:
            lines += ["", ""] if lines else []
            lines += wrapped(one.machine, width)
            machine = one.machine
        side = f" [{one.side}]" if one.side else ""
        lines += ["", *wrapped(f"{one.case}{side}: {one.figure.value}", width)]
        lines += [f"  {line}" for line in _table(one)]
        lines += [
            f"    {line}"
            for point in one.points
            if point.value is None
            for line in wrapped(f"{point.at[:16].replace('T', ' ')}: {point.why}", width - 4)
        ]
    return [*lines, "", RATIO_NOTE] if lines else []


def _table(series: HistorySeries) -> list[str]:
    known = [point.value for point in series.points if point.value is not None]
    top = max(known, default=0.0)
    rows = [("UTC", series.figure.value, "", "what", "", "")]
    for point in series.points:
        mark = f"! {point.change:+.1%}" if point.begins_level and point.change is not None else ""
        bar = "#" * round(CELLS * point.value / top) if point.value and top else ""
        rows.append(
            (
                point.at[:16].replace("T", " "),
                value_text(point.value, series.figure),
                spread_text(point, series.figure),
                " ".join(part for part in (point.label, point.verdict) if part),
                bar,
                mark,
            )
        )
    return aligned(rows, right=(1,))


def value_text(value: float | None, figure: Figure) -> str:
    """Return a figure with the digits that mean something; a hole as a dash."""
    if value is None:
        return UNKNOWN
    return f"{value:.3f}" if figure is Figure.RATIO else rate_text(value)


def spread_text(point: HistoryPoint, figure: Figure) -> str:
    """Return the interval of a ratio, or the range of rates."""
    if point.low is None or point.high is None:
        return ""
    return f"[{value_text(point.low, figure)}, {value_text(point.high, figure)}]"
