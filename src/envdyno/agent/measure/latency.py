"""Latency: a fixed number of vector steps, each timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from envdyno.agent.measure.quantile import quantile


@dataclass(frozen=True)
class Latency:
    """Durations of vector steps in milliseconds."""

    p10_ms: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    min_ms: float
    max_ms: float
    mean_ms: float
    steps: int

    def to_json(self) -> dict[str, float | int]:
        """Return plain JSON types."""
        return asdict(self)


def latency(durations_ns: Sequence[int]) -> Latency | None:
    """Return the quantiles of step durations given in ns, or ``None`` where there are none."""
    if not durations_ns:
        return None
    ordered = sorted(durations_ns)
    p10, p50, p90, p99 = (quantile(ordered, q) / 1e6 for q in (0.1, 0.5, 0.9, 0.99))
    mean = sum(ordered) / len(ordered) / 1e6
    return Latency(p10, p50, p90, p99, ordered[0] / 1e6, ordered[-1] / 1e6, mean, len(ordered))
