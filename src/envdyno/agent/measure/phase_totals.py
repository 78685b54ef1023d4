"""Arithmetic on running phase totals: windows are differences, several workers are sums."""

from __future__ import annotations

from collections.abc import Iterable

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
        cpu_ns = None if total.cpu_ns is None or start.cpu_ns is None else total.cpu_ns - start.cpu_ns
        change = PhaseTotal(total.path, total.wall_ns - start.wall_ns, total.calls - start.calls, cpu_ns)
        if change.wall_ns < 0 or change.calls < 0:
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
    """Totals of several workers as one, path by path; CPU time only where every part tells it."""
    by_path: dict[str, PhaseTotal] = {}
    for part in parts:
        for total in part:
            known = by_path.get(total.path)
            by_path[total.path] = total if known is None else added(known, total)
    return tuple(by_path.values())


def added(a: PhaseTotal, b: PhaseTotal) -> PhaseTotal:
    """Two totals of one path as one; CPU time only where both tell it."""
    cpu_ns = None if a.cpu_ns is None or b.cpu_ns is None else a.cpu_ns + b.cpu_ns
    return PhaseTotal(a.path, a.wall_ns + b.wall_ns, a.calls + b.calls, cpu_ns)


def paths_of_names(names: Iterable[str], window: Iterable[PhaseTotal]) -> tuple[str, ...]:
    """Paths for names of which only the name is known, as from ``envdyno.phase`` objects never entered.

    A name that ends some path in the window is known already; the others have no parent, for nobody knows
    where they would have been entered.
    """
    seen = {total.path.rpartition("/")[2] for total in window}
    return tuple(sorted(name for name in names if name not in seen))
