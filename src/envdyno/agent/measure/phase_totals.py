"""Arithmetic on running phase totals: windows are differences, several workers are sums."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from envdyno.agent.workloads.contract import PhaseTotal


def difference(before: Iterable[PhaseTotal], after: Iterable[PhaseTotal]) -> tuple[PhaseTotal, ...]:
    """What happened between two reads of running totals.

    Raises:
        ValueError: a total went back or is gone, so its source was reset in between.
    """
    earlier = {total.path: total for total in before}
    changes = []
    for total in after:
        start = earlier.pop(total.path, PhaseTotal(total.path, 0, 0, 0))
        change = PhaseTotal(
            total.path,
            total.wall_ns - start.wall_ns,
            _both(operator.sub, total.calls, start.calls),
            _both(operator.sub, total.cpu_ns, start.cpu_ns),
        )
        if change.wall_ns < 0 or (change.calls is not None and change.calls < 0):
            raise ValueError(
                f"The timer of the phase {total.path!r} went back within the window, from {start.wall_ns} to "
                f"{total.wall_ns} ns. Its source was reset; a window needs totals that only grow."
            )
        changes.append(change)
    if earlier:
        raise ValueError(
            f"The timers of {', '.join(sorted(earlier))} were there when the window began and gone when it "
            "ended. Their source was reset; a window needs totals that only grow."
        )
    return tuple(changes)


def summed(parts: Iterable[Iterable[PhaseTotal]]) -> tuple[PhaseTotal, ...]:
    """Totals of several workers as one, path by path; calls and CPU time only where every part tells them."""
    by_path: dict[str, PhaseTotal] = {}
    for part in parts:
        for total in part:
            known = by_path.get(total.path)
            by_path[total.path] = total if known is None else added(known, total)
    return tuple(by_path.values())


def added(a: PhaseTotal, b: PhaseTotal) -> PhaseTotal:
    """Two totals of one path as one; calls and CPU time only where both tell them."""
    return PhaseTotal(
        a.path,
        a.wall_ns + b.wall_ns,
        _both(operator.add, a.calls, b.calls),
        _both(operator.add, a.cpu_ns, b.cpu_ns),
    )


def paths_of_names(names: Iterable[str], window: Iterable[PhaseTotal]) -> tuple[str, ...]:
    """Paths for names of which only the name is known, as from ``envdyno.phase`` objects never entered.

    A name that ends some path in the window is known already; the others have no parent, for nobody knows
    where they would have been entered.
    """
    seen = {total.path.rpartition("/")[2] for total in window}
    return tuple(sorted(name for name in names if name not in seen))


def _both(combine: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else combine(a, b)
