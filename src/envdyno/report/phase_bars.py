"""Phases of both sides as bars, on one scale: the longer side's vector step fills the row."""

from __future__ import annotations

from envdyno.judge.attribution import Attribution, PhaseChange
from envdyno.record.counted import counted
from envdyno.report.columns import aligned
from envdyno.report.phase_changes import NOT_TIMED, signed_ms
from envdyno.report.sentences import wrapped

BASE, HEAD = "=", "#"
BAR_CELLS = 24


def phase_bar_lines(found: Attribution, sides: tuple[str, str], width: int = 80) -> list[str]:
    """Return two rows a phase: the base's bar, and below it the other side's."""
    longest = max(found.total.base_ms or 0.0, found.total.head_ms or 0.0)
    rows: list[tuple[str, ...]] = []
    for change in (found.total, *found.phases):
        depth = 1 if change is found.total else change.node.depth + 2
        name = "  " * depth + (change.node.path.rpartition("/")[2] or "vector step")
        rows.append((name, _ms(change.base_ms), "", _bar(change.base_ms, longest, BASE)))
        rows.append(("", _ms(change.head_ms), _delta(change), _bar(change.head_ms, longest, HEAD)))
    pairs = f"{counted(found.pairs, 'attribution pair')}"
    heading = f"{found.case}: ms a vector step, {found.clock.value} time, {pairs}"
    legend = f"  {BASE} {sides[0]}   {HEAD} {sides[1]}"
    return [*wrapped(heading, width), legend, *aligned(rows, right=(1, 2))]


def _ms(value: float | None) -> str:
    return NOT_TIMED if value is None else f"{value:.3f}"


def _delta(change: PhaseChange) -> str:
    return "" if change.delta_ms is None else signed_ms(change.delta_ms)


def _bar(value: float | None, longest: float, cell: str) -> str:
    return "" if value is None or longest <= 0 else cell * round(BAR_CELLS * max(0.0, value) / longest)
