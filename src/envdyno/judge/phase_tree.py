"""Phases of a step as a tree, with what no phase accounts for at every level.

Phases come as times by path, ``env_step`` and ``env_step/physics``. Each level's remainder is its own time
less that of its parts, so that leaves and remainders together are the whole, always.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

__all__ = ["REMAINDER", "PhaseKind", "PhaseNode", "PhaseTree", "phase_tree"]

REMAINDER = "remainder"
"""Last part of the path of what no phase accounts for."""


class PhaseKind(str, Enum):
    """What a row of a phase table stands for."""

    PHASE = "phase"
    """A phase with no parts of its own."""
    GROUP = "group"
    """A phase with parts; its time is theirs and its remainder's."""
    REMAINDER = "remainder"
    """What is left of the whole, or of a group."""


class PhaseNode(NamedTuple):
    """One place in the tree."""

    path: str
    kind: PhaseKind

    @property
    def depth(self) -> int:
        """0 for parts of the vector step itself."""
        return self.path.count("/")

    @property
    def is_part(self) -> bool:
        """Whether it is one of the parts that together are the whole."""
        return self.kind is not PhaseKind.GROUP


class PhaseTree(NamedTuple):
    """All places in reading order: a group, its parts, its remainder."""

    nodes: tuple[PhaseNode, ...]

    def times(self, total: float, phases: Mapping[str, float]) -> dict[str, float | None]:
        """Time of every place in one run.

        A phase that the run does not have is ``None``, never 0: its time is in a remainder.

        Args:
            total: time of the whole vector step.
            phases: time by path.
        """
        times: dict[str, float | None] = {}
        for node in self.nodes:
            if node.kind is not PhaseKind.REMAINDER:
                times[node.path] = phases.get(node.path)
                continue
            parent = node.path.rpartition("/")[0]
            whole = total if not parent else phases.get(parent)
            parts = (phases.get(path, 0.0) for path in self._parts_of(parent))
            times[node.path] = None if whole is None else whole - sum(parts)
        return times

    def _parts_of(self, parent: str) -> list[str]:
        return [
            node.path
            for node in self.nodes
            if node.kind is not PhaseKind.REMAINDER and node.path.rpartition("/")[0] == parent
        ]


def phase_tree(runs: Iterable[Mapping[str, float]]) -> PhaseTree:
    """The tree of all phases that any of the runs has.

    Raises:
        ValueError: a path is malformed, or a phase has a part and does not itself appear anywhere.
    """
    paths = {path for run in runs for path in run}
    for path in sorted(paths):
        parts = path.split("/")
        if "" in parts or REMAINDER in parts:
            raise ValueError(f"{path!r} is no path of phase names, or uses the reserved name {REMAINDER!r}.")
        parent = path.rpartition("/")[0]
        if parent and parent not in paths:
            raise ValueError(f"Phase {path!r} is inside {parent!r}, which no run has.")
    return PhaseTree(tuple(_below("", paths)))


def _below(parent: str, paths: set[str]) -> list[PhaseNode]:
    nodes: list[PhaseNode] = []
    for path in sorted(p for p in paths if p.rpartition("/")[0] == parent):
        inner = _below(path, paths)
        nodes.append(PhaseNode(path, PhaseKind.GROUP if inner else PhaseKind.PHASE))
        nodes += inner
    if nodes:
        nodes.append(PhaseNode(f"{parent}/{REMAINDER}" if parent else REMAINDER, PhaseKind.REMAINDER))
    return nodes
