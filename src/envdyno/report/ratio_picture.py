"""A ratio with its interval against the gate, as a row of characters. All rows of a table share one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from envdyno.judge.case_verdict import CaseVerdict

GATE, EVEN, ESTIMATE, LOW, HIGH, BETWEEN = "|", ":", "o", "[", "]", "-"
LEGEND = f"{LOW}{BETWEEN}{ESTIMATE}{BETWEEN}{HIGH} ratio and 95 % interval   {GATE} gate   {EVEN} no change"
BEYOND = 3.0
"""Ends of the scale: a third and three times. What lies beyond is cut off, with ``<`` or ``>``."""


@dataclass(frozen=True)
class RatioScale:
    """A logarithmic scale of ratios over a number of characters."""

    low: float
    high: float
    width: int

    def place(self, ratio: float) -> int:
        """Return the column of a ratio; ends of the scale for what lies beyond it."""
        share = math.log(ratio / self.low) / math.log(self.high / self.low)
        return round(min(1.0, max(0.0, share)) * (self.width - 1))


def ratio_scale(cases: Sequence[CaseVerdict], width: int, *, judged: bool) -> RatioScale:
    """Return a scale on which every interval, "no change" and the gate can be seen."""
    marks = [1.0]
    for case in cases:
        marks += [case.min_ratio] if judged else []
        if case.estimate is not None:
            interval = case.estimate.interval
            marks += [case.estimate.ratio] if interval is None else [interval.low, interval.high]
    low = max(1 / BEYOND, min(marks) * 0.98)
    high = min(BEYOND, max(marks) * 1.02)
    return RatioScale(min(low, 0.95), max(high, 1.05), width)


def ratio_picture(case: CaseVerdict, scale: RatioScale, *, judged: bool) -> str:
    """Return one row; without a ratio, the marks of the scale only."""
    cells = [" "] * scale.width
    cells[scale.place(1.0)] = EVEN
    if case.estimate is not None:
        interval = case.estimate.interval
        if interval is not None:
            first, last = scale.place(interval.low), scale.place(interval.high)
            cells[first : last + 1] = BETWEEN * (last - first + 1)
            cells[first] = LOW if interval.low >= scale.low else "<"
            cells[last] = HIGH if interval.high <= scale.high else ">"
        cells[scale.place(case.estimate.ratio)] = ESTIMATE
    if judged:
        cells[scale.place(case.min_ratio)] = GATE
    return "".join(cells)


def scale_line(scale: RatioScale, min_ratio: float | None) -> str:
    """Return the labels under the pictures: the gate, and no change."""
    cells = [" "] * (scale.width + 6)
    for ratio, text in ((1.0, "1"), *(((min_ratio, f"{min_ratio:.3g}"),) if min_ratio else ())):
        place = max(0, scale.place(ratio) - (len(text) - 1) // 2)
        if all(cell == " " for cell in cells[max(0, place - 1) : place + len(text) + 1]):
            cells[place : place + len(text)] = text
    return "".join(cells).rstrip()
