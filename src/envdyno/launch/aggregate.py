"""From what each worker completed to the figures of the run. Pure functions.

A rate here is always a total over one elapsed time. Rates of workers are never added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envdyno.record.worker import Totals

FORMULA = "transitions completed by all workers inside the common window / length of the window"
FORMULA_OWN_SPANS = "transitions of all workers / (last worker's end - first worker's start)"
"""For latency runs and synchronised edges, where each worker has a span of its own."""


@dataclass(frozen=True)
class WorkerWindow:
    """What one worker completed, and between which instants (ns of one monotonic clock)."""

    num_envs: int
    start_ns: int
    end_ns: int
    totals: Totals
    first_ns: int | None = None


def add_totals(parts: Sequence[Totals]) -> Totals:
    """Return the sums over workers; ``None`` where one of them does not tell."""
    return Totals(
        vector_steps=sum(part.vector_steps for part in parts),
        transitions=sum(part.transitions for part in parts),
        reset_rows=sum(part.reset_rows for part in parts),
        episodes=_sum_known([part.episodes for part in parts]),
        nonfinite_rows=_sum_known([part.nonfinite_rows for part in parts]),
        reward_sum=_sum_known([part.reward_sum for part in parts]),
        nonfinite_rewards=sum(part.nonfinite_rewards for part in parts),
    )


def _sum_known(values: Sequence[Any]) -> Any:
    return None if any(value is None for value in values) else sum(values)


def elapsed_s(windows: Sequence[WorkerWindow]) -> float:
    """Return the time that all workers' spans cover together.

    For a common window that is its length. Where the spans differ (latency runs, synchronised edges) it
    reaches from the first start to the last end, which can only make the rate smaller.
    """
    start = min(window.start_ns for window in windows)
    end = max(window.end_ns for window in windows)
    return (end - start) / 1e9


def start_skew_s(windows: Sequence[WorkerWindow]) -> float | None:
    """Return the time between the first and the last worker's first completion in the window.

    It includes up to one vector step, for workers are not in step with each other.
    """
    firsts = [window.first_ns for window in windows if window.first_ns is not None]
    if len(firsts) != len(windows) or len(windows) < 2:
        return None
    return (max(firsts) - min(firsts)) / 1e9


def straggler_index(windows: Sequence[WorkerWindow]) -> float | None:
    """Return the best worker's transitions an environment over the worst's; 1 where all are even.

    ``None`` for one worker, and where a worker completed nothing.
    """
    if len(windows) < 2:
        return None
    rates = [window.totals.transitions / window.num_envs for window in windows]
    return None if min(rates) <= 0 else max(rates) / min(rates)


def edge_share(windows: Sequence[WorkerWindow]) -> float | None:
    """Return the transitions of one vector step of every worker as a share of all that were counted.

    A step that straddles an edge counts whole or not at all, so this bounds what the edges can do.
    """
    transitions = sum(window.totals.transitions for window in windows)
    steps = [window.totals.vector_steps for window in windows]
    if transitions == 0 or 0 in steps:
        return None
    one_step = sum(window.totals.transitions / window.totals.vector_steps for window in windows)
    return one_step / transitions
