"""Two workloads side by side: equal action spaces, interleaved runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from envdyno.launch.measure import describe, measure
from envdyno.launch.session import Session
from envdyno.plan.run_request import RunRequest
from envdyno.plan.usage_error import UsageError
from envdyno.record.run_record import RunRecord

ACTION_FIELDS = ("shape", "dtype", "low", "high")


def check_equal_actions(first: RunRequest, second: RunRequest, session: Session) -> None:
    """Build both workloads and compare their action spaces.

    Raises:
        UsageError: they differ, or are not told; the sentence names the difference.
    """
    spaces = [describe(request, session).spec.get("action") for request in (first, second)]
    difference = action_difference(*spaces)
    if difference:
        raise UsageError(
            f"{first.workload} and {second.workload} cannot be compared, "
            f"for their actions differ: {difference}."
        )


def action_difference(first: dict[str, Any] | None, second: dict[str, Any] | None) -> str | None:
    """Return in words what differs between two action spaces; ``None`` where nothing does."""
    if first is None or second is None:
        if first is second:
            return None
        return "one takes actions of a known space, the other does not tell"
    parts = [
        f"{name} {first.get(name)} against {second.get(name)}"
        for name in ACTION_FIELDS
        if first.get(name) != second.get(name)
    ]
    return ", ".join(parts) or None


def interleave(
    first: RunRequest,
    second: RunRequest,
    rounds: int,
    session: Session,
    begin: Callable[[RunRequest], None],
    keep: Callable[[RunRecord], None],
) -> Iterator[tuple[int, RunRecord]]:
    """Measure both in turn, AB BA AB ..., and yield side (0 or 1) and record of each run."""
    sides = (first, second)
    for index in range(rounds):
        for side in (0, 1) if index % 2 == 0 else (1, 0):
            begin(sides[side])
            yield side, measure(sides[side], session, keep)
