"""From running totals to where a vector step's time went.

Pure arithmetic on :class:`~envdyno.agent.workloads.contract.PhaseTotal`, used by the worker that measured and
by the control that reports. Whatever the source of the totals - ``envdyno.phase``, a framework's own timers,
probes - the result has one shape:

* times are per vector step of the window, never per call: a phase that runs in one step of ten is a tenth;
* every level with children shows its **remainder**, the part of the parent that no child covers. It may be
  negative where a framework's timers overlap, and is shown as it is;
* a phase whose timer is there and never ran is ``never_ran`` with 0 calls; a phase that no timer covers is
  ``not_instrumented`` and has no figures at all;
* **equivalent cores** of a phase are its CPU time over its wall time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from envdyno.agent.workloads.contract import PhaseTotal

Json: TypeAlias = "dict[str, Any]"


class PhaseStatus(str, Enum):
    """What a phase's figures mean."""

    TIMED = "timed"
    NEVER_RAN = "never_ran"
    """Its timer is there, and it was not entered in the window: 0 calls, 0 ms."""
    NOT_INSTRUMENTED = "not_instrumented"
    """No timer covers it; it may have taken any time. It has no figures."""


@dataclass(frozen=True)
class Remainder:
    """The part of a parent that no child covers."""

    ms_per_step: float
    share: float
    """Of the vector step."""
    cpu_ms_per_step: float | None

    def to_json(self) -> Json:
        """As strict JSON."""
        return {
            "ms_per_step": self.ms_per_step,
            "share": self.share,
            "cpu_ms_per_step": self.cpu_ms_per_step,
        }


@dataclass(frozen=True)
class PhaseNode:
    """One phase under one parent. ``None`` is "not told", never 0."""

    path: str
    status: PhaseStatus
    ms_per_step: float | None
    share: float | None
    """Of the vector step, so that the shares of one level and its remainder add up to the parent's share."""
    calls_per_step: float | None
    cpu_ms_per_step: float | None
    remainder: Remainder | None
    """``None`` for a phase without children, and for one whose own time is not known."""
    children: tuple[PhaseNode, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def equivalent_cores(self) -> float | None:
        """CPU time over wall time: how many cores were busy, on average, while the phase ran."""
        if self.cpu_ms_per_step is None or not self.ms_per_step:
            return None
        return self.cpu_ms_per_step / self.ms_per_step

    def to_json(self) -> Json:
        """As strict JSON."""
        return {
            "name": self.name,
            "path": self.path,
            "status": self.status.value,
            "ms_per_step": self.ms_per_step,
            "share": self.share,
            "calls_per_step": self.calls_per_step,
            "cpu_ms_per_step": self.cpu_ms_per_step,
            "equivalent_cores": self.equivalent_cores,
            "remainder": None if self.remainder is None else self.remainder.to_json(),
            "children": [child.to_json() for child in self.children],
        }


@dataclass(frozen=True)
class ObserverEffect:
    """What timing the phases cost: a vector step of the attribution run against one of the throughput run."""

    throughput_step_ms: float
    attribution_step_ms: float

    @property
    def ms_per_step(self) -> float:
        """Time added to a vector step; negative where the difference is lost in noise."""
        return self.attribution_step_ms - self.throughput_step_ms

    @property
    def relative(self) -> float:
        """The same, as a part of the throughput run's step."""
        return self.ms_per_step / self.throughput_step_ms

    def to_json(self) -> Json:
        """As strict JSON."""
        return {
            "throughput_step_ms": self.throughput_step_ms,
            "attribution_step_ms": self.attribution_step_ms,
            "ms_per_step": self.ms_per_step,
            "relative": self.relative,
        }


@dataclass(frozen=True)
class PhaseTree:
    """Where the time of the window's vector steps went."""

    vector_steps: int
    step_ms: float
    cpu_ms_per_step: float | None
    remainder: Remainder
    """The part of a vector step that no outermost phase covers; all of it where there is none."""
    phases: tuple[PhaseNode, ...]

    @property
    def equivalent_cores(self) -> float | None:
        """CPU time of a vector step over its wall time."""
        return None if self.cpu_ms_per_step is None else self.cpu_ms_per_step / self.step_ms

    def find(self, path: str) -> PhaseNode | None:
        """The phase at ``path``, or None."""
        level, found = self.phases, None
        for depth in range(path.count("/") + 1):
            prefix = "/".join(path.split("/")[: depth + 1])
            found = next((node for node in level if node.path == prefix), None)
            if found is None:
                return None
            level = found.children
        return found

    def to_json(self) -> Json:
        """As strict JSON."""
        return {
            "vector_steps": self.vector_steps,
            "step_ms": self.step_ms,
            "cpu_ms_per_step": self.cpu_ms_per_step,
            "equivalent_cores": self.equivalent_cores,
            "remainder": self.remainder.to_json(),
            "phases": [node.to_json() for node in self.phases],
        }


def build_tree(
    window: Sequence[PhaseTotal],
    *,
    vector_steps: int,
    wall_ns: int,
    cpu_ns: int | None = None,
    declared: Iterable[str] = (),
    expected: Iterable[str] = (),
) -> PhaseTree:
    """Arrange the totals of a window under their parents, per vector step.

    Args:
        window: what happened in the window, see :func:`~envdyno.agent.measure.phase_totals.difference`.
        vector_steps: vector steps that were completed in it; of all workers where totals are of all workers.
        wall_ns: time that these steps took.
        cpu_ns: CPU time of the process over the same time, where known.
        declared: paths whose timer is known to be there. Those without a total are ``never_ran``.
        expected: paths that a reader will look for. Those that are neither timed nor declared are
            ``not_instrumented``. So is a parent that only appears in the paths of its children.

    Raises:
        ValueError: no vector step was completed, or a path occurs twice.
    """
    if vector_steps <= 0 or wall_ns <= 0:
        raise ValueError(
            f"Phases are told per vector step, and the window holds {vector_steps} of them in {wall_ns} ns. "
            "Make the window longer than a vector step."
        )
    totals: dict[str, PhaseTotal | None] = {}
    for total in window:
        if total.path in totals:
            raise ValueError(f"The phase {total.path!r} has two totals in one window.")
        totals[total.path] = total
    for path in declared:
        totals.setdefault(path, PhaseTotal(path, 0, 0))
    for path in expected:
        totals.setdefault(path, None)
    builder = _Builder(_with_parents(totals), vector_steps, wall_ns)
    nodes = builder.level("")
    cpu_ms = None if cpu_ns is None else cpu_ns / vector_steps / 1e6
    step_ms = wall_ns / vector_steps / 1e6
    return PhaseTree(vector_steps, step_ms, cpu_ms, _remainder(step_ms, cpu_ms, nodes, step_ms), nodes)


class _Builder:
    def __init__(self, totals: Mapping[str, PhaseTotal | None], vector_steps: int, wall_ns: int) -> None:
        self._totals = totals
        self._vector_steps = vector_steps
        self._step_ms = wall_ns / vector_steps / 1e6
        self._children: dict[str, list[str]] = {}
        for path in totals:
            self._children.setdefault(path.rpartition("/")[0], []).append(path)

    def level(self, parent: str) -> tuple[PhaseNode, ...]:
        return tuple(self._node(path) for path in self._children.get(parent, ()))

    def _node(self, path: str) -> PhaseNode:
        children = self.level(path)
        total = self._totals[path]
        if total is None:
            return PhaseNode(path, PhaseStatus.NOT_INSTRUMENTED, None, None, None, None, None, children)
        ran = bool(total.calls) or total.wall_ns > 0
        calls = total.calls if ran else 0
        ms = total.wall_ns / self._vector_steps / 1e6
        cpu_ms = None if total.cpu_ns is None else total.cpu_ns / self._vector_steps / 1e6
        return PhaseNode(
            path=path,
            status=PhaseStatus.TIMED if ran else PhaseStatus.NEVER_RAN,
            ms_per_step=ms,
            share=ms / self._step_ms,
            calls_per_step=None if calls is None else calls / self._vector_steps,
            cpu_ms_per_step=cpu_ms,
            remainder=_remainder(ms, cpu_ms, children, self._step_ms) if children else None,
            children=children,
        )


def _with_parents(totals: Mapping[str, PhaseTotal | None]) -> dict[str, PhaseTotal | None]:
    """The same with every missing parent put before its first child."""
    complete: dict[str, PhaseTotal | None] = {}
    for path, total in totals.items():
        names = path.split("/")
        for depth in range(1, len(names)):
            parent = "/".join(names[:depth])
            complete.setdefault(parent, totals.get(parent))
        complete.setdefault(path, total)
    return complete


def _remainder(ms: float, cpu_ms: float | None, children: Sequence[PhaseNode], step_ms: float) -> Remainder:
    left = ms - sum(_covered_ms(child) for child in children)
    covered_cpu = [_covered_cpu_ms(child) for child in children]
    cpu_left: float | None = None
    if cpu_ms is not None and all(part is not None for part in covered_cpu):
        cpu_left = cpu_ms - sum(part for part in covered_cpu if part is not None)
    return Remainder(left, left / step_ms, cpu_left)


def _covered_ms(node: PhaseNode) -> float:
    """Time that the node's timers cover: its own, or for one without a timer that of the phases below it."""
    return node.ms_per_step if node.ms_per_step is not None else sum(map(_covered_ms, node.children))


def _covered_cpu_ms(node: PhaseNode) -> float | None:
    if node.status is PhaseStatus.NEVER_RAN:
        return 0.0
    if node.status is PhaseStatus.TIMED:
        return node.cpu_ms_per_step
    parts = [_covered_cpu_ms(child) for child in node.children]
    return None if any(part is None for part in parts) else sum(part for part in parts if part is not None)
