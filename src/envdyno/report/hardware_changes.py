"""What the processor counted on both sides, below the phases that explain a change."""

from __future__ import annotations

from collections.abc import Sequence

from envdyno.judge.hardware_change import HardwareChange
from envdyno.report.columns import aligned

LABELS = {
    "instructions_per_transition": "instructions a transition",
    "cycles_per_transition": "cycles a transition",
    "instructions_per_cycle": "instructions a cycle",
    "cache_misses_per_transition": "cache misses a transition",
    "branch_misses_per_transition": "branch misses a transition",
}


def hardware_change_lines(changes: Sequence[HardwareChange], sides: tuple[str, str]) -> list[str]:
    """Return a table of the figures that both sides have; nothing where there are none.

    Args:
        changes: what the judge says.
        sides: names of the base and of the other side.
    """
    if not changes:
        return []
    header = ("  hardware counters, user space", sides[0], "", sides[1], "change [95 %]")
    rows = [
        (f"    {LABELS[one.name]}", counted_text(one.base), "→", counted_text(one.head), _change(one))
        for one in changes
    ]
    return aligned([header, *rows], right=(1, 3))


def counted_text(value: float) -> str:
    """Return a figure with the digits that mean something."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _change(one: HardwareChange) -> str:
    if one.low is None or one.high is None:
        return _percent(one.change)
    return f"{_percent(one.change)} [{_percent(one.low)}, {_percent(one.high)}]"


def _percent(value: float) -> str:
    """Return a change in per cent; what is rounded to nothing has no minus sign."""
    return f"{round(100 * value, 1) + 0.0:+.1f} %"
