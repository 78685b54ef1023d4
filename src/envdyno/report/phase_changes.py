"""Where the change of a vector step comes from: both sides' phases side by side."""

from __future__ import annotations

from collections.abc import Mapping

from envdyno.judge.attribution import Attribution, Clock, PhaseChange
from envdyno.judge.phase_tree import PhaseKind
from envdyno.record.counted import counted
from envdyno.report.columns import aligned
from envdyno.report.sentences import finished, wrapped

NOT_TIMED = "not timed"
NEVER_RAN = "never ran"
CALLS_DIFFER = 0.1
"""Relative; resets and other rare phases are never called equally often in two windows."""

PhaseCalls = Mapping[str, tuple[float | None, float | None]]
"""By path: calls a vector step on the base side and on the other."""


def phase_change_lines(
    found: Attribution, sides: tuple[str, str], calls: PhaseCalls, width: int
) -> list[str]:
    """Return the phases of both sides in ms of a vector step, the remainder included.

    Args:
        found: what the judge says.
        sides: names of the base and of the other side.
        calls: told where the sides differ, for one label over three calls is not the same work.
        width: of the screen, for the sentences below the table.
    """
    clock = "wall time" if found.clock is Clock.WALL else "CPU time"
    pairs = f"{counted(found.pairs, 'attribution pair')}"
    header = (f"  ms a vector step, {clock}", sides[0], "", sides[1], "change [95 %]", "share", "")
    rows = [header, _row("  vector step", found.total, found.total, (None, None))]
    for change in found.phases:
        name = "  " * (change.node.depth + 2) + change.node.path.rpartition("/")[2]
        rows.append(_row(name, change, found.total, calls.get(change.node.path, (None, None))))
    lines = [f"{found.case}, {pairs}", *aligned(rows, right=(1, 3, 5))]
    if found.explained_by is not None:
        lines.append(f"  More than half of the change is {found.explained_by.path}.")
    if found.clock is Clock.WALL and (cost := _observer(found, sides)):
        lines.append(cost)
    alarms = (wrapped(f"! {finished(alarm.message)}", width - 2) for alarm in found.alarms)
    return [*lines, *(f"  {line}" for alarm in alarms for line in alarm)]


def _row(
    name: str, change: PhaseChange, total: PhaseChange, calls: tuple[float | None, float | None]
) -> tuple[str, ...]:
    base, head = _ms(change.base_ms, calls[0]), _ms(change.head_ms, calls[1])
    if base == head == NEVER_RAN:
        return name, base, "→", head, "", "", ""
    return name, base, "→", head, _delta(change), _share(change, total), _calls(*calls)


def _ms(value: float | None, calls: float | None) -> str:
    if calls == 0:
        return NEVER_RAN
    return NOT_TIMED if value is None else f"{value:.3f}"


def _delta(change: PhaseChange) -> str:
    if change.delta_ms is None:
        return ""
    if change.interval is None:
        return signed_ms(change.delta_ms)
    return (
        f"{signed_ms(change.delta_ms)} [{signed_ms(change.interval.low)}, {signed_ms(change.interval.high)}]"
    )


def signed_ms(value: float) -> str:
    """Return a change in ms; what is rounded to nothing has no minus sign."""
    return f"{round(value, 3) + 0.0:+.3f}"


def _share(change: PhaseChange, total: PhaseChange) -> str:
    """Return a part's share of the change, where there is a change to share."""
    if change is total or change.share is None or change.node.kind is PhaseKind.GROUP or not total.is_shown:
        return ""
    return f"{round(100 * change.share) + 0:d} %"


def _calls(base: float | None, head: float | None) -> str:
    """Return the calls of both sides in a step, where they differ."""
    if base is None or head is None or abs(base - head) <= CALLS_DIFFER * max(base, head):
        return ""
    return f"calls {base:.3g} → {head:.3g}"


def _observer(found: Attribution, sides: tuple[str, str]) -> str:
    """Return what timing the phases cost, against the throughput runs."""
    reconciliation = found.reconciliation
    if reconciliation is None:
        return ""
    base_ms, head_ms = reconciliation.observer_base_ms, reconciliation.observer_head_ms
    return (
        f"  phases on against phases off: {signed_ms(base_ms)} ms a step on {sides[0]}, "
        f"{signed_ms(head_ms)} ms on {sides[1]}"
    )
