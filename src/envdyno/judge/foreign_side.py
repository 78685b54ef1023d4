"""A series of another tool's file as a side that can be judged."""

from __future__ import annotations

from envdyno.judge.evidence import UnpairedSide
from envdyno.record.foreign.series import ForeignSeries

__all__ = ["unpaired_side"]


def unpaired_side(series: ForeignSeries, name: str | None = None) -> UnpairedSide:
    """The series as an unpaired side.

    Args:
        series: what was read.
        name: how to call the side; the benchmark's own name if not given.
    """
    return UnpairedSide(
        name=name or series.name,
        rates=series.rates_per_s,
        source=f"{series.tool} ({series.unit_of_repetition})",
        identity=series.identity,
        measured_at_s=series.measured_at_s,
        failed=series.failed,
        why_empty=series.why_empty,
    )
