"""Phases over the vector steps of one window: read by the worker, arranged by the control.

::

    window = PhaseWindow(workload.phases, installed_probes, CpuTiming.OFF)     # worker, attribution run
    window.open()                                    # between two vector steps
    ... step and count ...
    reading = window.close(vector_steps)             # between two vector steps; send reading.to_json()

    tree = tree_of([PhaseReading.from_json(body) for body in bodies])          # control, all workers

Open and close where the counting begins and ends, so that times and steps are of the same span.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envdyno.agent.measure import phases
from envdyno.agent.measure.phase_recorder import Clock, CpuTiming
from envdyno.agent.measure.phase_totals import difference, paths_of_names, summed
from envdyno.agent.measure.phase_tree import PhaseTree, build_tree
from envdyno.agent.measure.probes import InstalledProbes
from envdyno.agent.workloads.contract import PhaseTotal

Source = Callable[[], Iterable[PhaseTotal]]
"""A framework's own timers, as running totals."""


@dataclass(frozen=True)
class PhaseReading:
    """What one worker's phases did in a window."""

    totals: tuple[PhaseTotal, ...]
    """Over the window, of the stepping thread; the framework's own where it has the only timer of a path."""
    vector_steps: int
    wall_ns: int
    """From open to close."""
    cpu_ns: int | None
    """CPU time of the process from open to close, where phases are timed in CPU time too."""
    declared: tuple[str, ...]
    """Names that the program has made a phase of."""
    probed: tuple[str, ...]
    """Names of phases that were asked for by probes."""
    other_threads: Mapping[str, tuple[PhaseTotal, ...]]
    """By thread name, over the window. They overlap the stepping thread and are no part of its step."""
    misnested: int
    """Phases that ended out of turn in the window; their times are bounded, not exact."""

    def to_json(self) -> dict[str, Any]:
        """As strict JSON."""
        return {
            "totals": [list(total) for total in self.totals],
            "vector_steps": self.vector_steps,
            "wall_ns": self.wall_ns,
            "cpu_ns": self.cpu_ns,
            "declared": list(self.declared),
            "probed": list(self.probed),
            "other_threads": {
                name: [list(total) for total in totals] for name, totals in self.other_threads.items()
            },
            "misnested": self.misnested,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> PhaseReading:
        """Read what :meth:`to_json` wrote."""
        return cls(
            totals=tuple(PhaseTotal(*total) for total in body["totals"]),
            vector_steps=body["vector_steps"],
            wall_ns=body["wall_ns"],
            cpu_ns=body["cpu_ns"],
            declared=tuple(body["declared"]),
            probed=tuple(body["probed"]),
            other_threads={
                name: tuple(PhaseTotal(*total) for total in totals)
                for name, totals in body["other_threads"].items()
            },
            misnested=body["misnested"],
        )


@dataclass(frozen=True)
class _Edge:
    own: tuple[PhaseTotal, ...]
    framework: tuple[PhaseTotal, ...]
    other_threads: Mapping[str, tuple[PhaseTotal, ...]]
    misnested: int
    wall_ns: int
    cpu_ns: int


class PhaseWindow:
    """Turns phases on for a window, and reads them at its edges."""

    def __init__(
        self,
        framework: Source | None = None,
        probes: InstalledProbes | None = None,
        cpu: CpuTiming = CpuTiming.OFF,
        wall_clock: Clock = time.monotonic_ns,
        cpu_clock: Clock = time.process_time_ns,
    ) -> None:
        """Prepare a window.

        Args:
            framework: the workload's own timers.
            probes: probes that are in place.
            cpu: whether phases are timed in CPU time too.
            wall_clock: of the window's length.
            cpu_clock: of the process's CPU time in the window.
        """
        self._framework, self._probes, self._cpu = framework, probes, cpu
        self._wall_clock, self._cpu_clock = wall_clock, cpu_clock
        self._opened: _Edge | None = None

    def open(self) -> None:
        """Turn phases on; the calling thread is the one that steps."""
        phases.enable(self._cpu)
        self._opened = self._edge()

    def close(self, vector_steps: int) -> PhaseReading:
        """Read again, and turn phases off.

        Args:
            vector_steps: taken since :meth:`open`.

        Raises:
            ValueError: the framework's timers were reset within the window.
        """
        assert self._opened is not None, "open() comes first"
        before, after = self._opened, self._edge()
        phases.disable()
        own = difference(before.own, after.own)
        timed = {total.path for total in own}
        framework = difference(before.framework, after.framework)
        return PhaseReading(
            totals=(*own, *(total for total in framework if total.path not in timed)),
            vector_steps=vector_steps,
            wall_ns=after.wall_ns - before.wall_ns,
            cpu_ns=after.cpu_ns - before.cpu_ns if self._cpu is CpuTiming.PROCESS else None,
            declared=tuple(sorted(phases.declared())),
            probed=() if self._probes is None else self._probes.phase_names,
            other_threads={
                name: difference(before.other_threads.get(name, ()), totals)
                for name, totals in after.other_threads.items()
            },
            misnested=after.misnested - before.misnested,
        )

    def _edge(self) -> _Edge:
        return _Edge(
            phases.totals(),
            tuple(self._framework()) if self._framework is not None else (),
            phases.other_threads(),
            phases.misnested(),
            self._wall_clock(),
            self._cpu_clock(),
        )


def tree_of(readings: Sequence[PhaseReading], expected: Iterable[str] = ()) -> PhaseTree:
    """Arrange the readings of all workers of a run as one tree, per vector step of a worker.

    Args:
        readings: one of each worker.
        expected: paths that a reader looks for, beside the probed ones; see
            :func:`~envdyno.agent.measure.phase_tree.build_tree`.

    Raises:
        ValueError: no worker completed a vector step.
    """
    totals = summed(reading.totals for reading in readings)
    cpu = [reading.cpu_ns for reading in readings if reading.cpu_ns is not None]
    return build_tree(
        totals,
        vector_steps=sum(reading.vector_steps for reading in readings),
        wall_ns=sum(reading.wall_ns for reading in readings),
        cpu_ns=sum(cpu) if len(cpu) == len(readings) else None,
        declared=paths_of_names({name for reading in readings for name in reading.declared}, totals),
        expected=(
            *expected,
            *paths_of_names({name for reading in readings for name in reading.probed}, totals),
        ),
    )
