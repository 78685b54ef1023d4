"""Timers that frameworks bring themselves, as running phase totals.

Two shapes cover what is in use. **A flat dictionary of milliseconds**, overwritten in every step, as UniLab's
``state.info["timing"]``: :class:`StepTimers` adds it up, for a mean over a window needs totals. **A tree of
named scopes with running totals**, as MotrixLab's ``env.perf.snapshot()``: :func:`scope_totals` reads it.

Both are thin on purpose: names are mapped to phase paths and nothing is corrected. What a source does not
tell (calls in the first shape, CPU time in the second) stays untold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from envdyno.agent.measure.phase_totals import added
from envdyno.agent.workloads.contract import PhaseTotal


@dataclass(frozen=True)
class TimerKey:
    """Where one phase stands in a flat dictionary."""

    path: str
    wall_key: str
    """Key of the wall time in milliseconds."""
    cpu_key: str | None = None
    """Key of the CPU time in milliseconds, where the framework has one."""


UNILAB_TIMERS = (
    TimerKey("env_step", "env_step_total_ms"),
    TimerKey("env_step/action_validate", "action_validate_ms"),
    TimerKey("env_step/apply_action", "apply_action_ms"),
    TimerKey("env_step/step_core", "step_core_ms", "step_core_cpu_ms"),
    TimerKey("env_step/step_core/set_ctrl", "backend_set_ctrl_ms"),
    TimerKey("env_step/step_core/physics", "backend_physics_ms"),
    TimerKey("env_step/step_core/refresh_cache", "backend_refresh_cache_ms"),
    TimerKey("env_step/update_state", "update_state_ms", "update_state_cpu_ms"),
    TimerKey("env_step/reset_done", "reset_done_ms", "reset_done_cpu_ms"),
)
"""UniLab's timers. ``step_core`` wraps the physics call; physics that a reset runs is in ``reset_done``. Its
CPU timers tick in 10 ms (``os.times``): of no use in one step, fair as a sum over a window."""


class StepTimers:
    """Adds up a flat dictionary of times in milliseconds, one for each vector step.

    Calls are not told by such a source. It writes 0 both for "not on the path" and for "ran in no time", so a
    key that was never above 0 comes out as never run.
    """

    def __init__(self, timers: Sequence[TimerKey]) -> None:
        """Add up the given keys; keys of the dictionary that are not named here are ignored."""
        self._timers = tuple(timers)
        self._wall_ms = [0.0] * len(self._timers)
        self._cpu_ms = [0.0] * len(self._timers)
        self._present = [False] * len(self._timers)
        self._cpu_present = [False] * len(self._timers)

    def add(self, timing: Mapping[str, float]) -> None:
        """Add the times of one vector step. Call it before the next step overwrites them."""
        for index, timer in enumerate(self._timers):
            wall_ms = timing.get(timer.wall_key)
            if wall_ms is None:
                continue
            self._present[index] = True
            self._wall_ms[index] += float(wall_ms)
            if timer.cpu_key is not None and (cpu_ms := timing.get(timer.cpu_key)) is not None:
                self._cpu_present[index] = True
                self._cpu_ms[index] += float(cpu_ms)

    def totals(self) -> tuple[PhaseTotal, ...]:
        """Running totals of the keys that have been there so far."""
        return tuple(
            PhaseTotal(
                timer.path,
                round(self._wall_ms[index] * 1e6),
                None,
                round(self._cpu_ms[index] * 1e6) if self._cpu_present[index] else None,
            )
            for index, timer in enumerate(self._timers)
            if self._present[index]
        )


class Scope(Protocol):
    """A node of a tree of timers: MotrixLab's ``PerfNode`` and its like."""

    @property
    def name(self) -> str:
        """The scope's own name."""
        ...

    @property
    def count(self) -> int:
        """Times that the scope was entered."""
        ...

    @property
    def total_ns(self) -> int:
        """Time in the scope, nested scopes included."""
        ...

    @property
    def children(self) -> Iterable[Any]:
        """Nested scopes."""
        ...


def scope_totals(roots: Iterable[Scope], renamed: Mapping[str, str] | None = None) -> tuple[PhaseTotal, ...]:
    """Running totals of a tree of scopes, parents before children.

    Args:
        roots: outermost scopes.
        renamed: names that have another one here, e.g. ``{"step": "env_step"}``.

    Times stay totals. A mean per entry, as such frameworks print it, makes a scope that seldom runs look as
    dear as one that runs in every step; :mod:`~envdyno.agent.measure.phase_tree` divides by vector steps.
    """
    names = renamed or {}
    totals: dict[str, PhaseTotal] = {}

    def visit(scope: Scope, prefix: str) -> None:
        path = prefix + names.get(scope.name, scope.name).replace("/", "_")
        read = PhaseTotal(path, int(scope.total_ns), int(scope.count))
        totals[path] = added(totals[path], read) if path in totals else read
        for child in scope.children:
            visit(child, path + "/")

    for root in roots:
        visit(root, "")
    return tuple(totals.values())
