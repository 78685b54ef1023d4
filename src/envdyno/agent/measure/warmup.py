"""Warm-up: step until the step time is steady, or say that it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from envdyno.agent.measure.stationarity import block_medians, trend
from envdyno.agent.measure.window import Stepper

BLOCKS = 10
"""Sub-windows of a round whose medians are tested for a trend."""
EXTRA_ROUNDS = 3
"""Rounds added while the step time is not steady."""


@dataclass(frozen=True)
class Warmup:
    """How the warm-up went. ``steady`` is ``None`` where there were too few steps to tell."""

    steps: int
    rounds: int
    seconds: float
    steady: bool | None
    relative_change: float | None
    """Drift of the step time over the last round; 0.1 is a tenth slower at its end."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)


def warm_up(stepper: Stepper, steps: int, after_step: Callable[[int], None]) -> Warmup:
    """Take ``steps`` vector steps, and up to three times as many again while they are not steady.

    Args:
        stepper: the loop around the workload.
        steps: vector steps of a round; 0 takes none.
        after_step: called with the number of steps taken so far, outside the timed part of a step.
    """
    durations: list[float] = []
    total_ns = taken = rounds = 0
    steady: bool | None = None
    change: float | None = None
    while steps and rounds <= EXTRA_ROUNDS:
        rounds += 1
        durations.clear()
        for _ in range(steps):
            duration_ns, _outcome = stepper.timed_once()
            durations.append(duration_ns)
            total_ns += duration_ns
            taken += 1
            after_step(taken)
        found = trend(block_medians(durations, BLOCKS))
        steady, change = (None, None) if found is None else (found.steady, found.relative_change)
        if steady is not False:
            break
    return Warmup(taken, rounds, total_ns / 1e9, steady, change)
