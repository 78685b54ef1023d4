"""The CPUs and memory nodes that one worker may use, and the memory policy."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from envdyno.agent.placement import wire


class MemoryPolicy(str, Enum):
    """Where a worker's pages may come from."""

    BIND = "bind"
    """From the memory nodes only. When they are full, the out-of-memory killer ends the worker."""
    PREFERRED = "preferred"
    """From the memory nodes while they have room, else from any other."""
    INTERLEAVE = "interleave"
    """From the memory nodes in turn, page by page."""
    OFF = "off"
    """As the kernel does by itself: from the node of the CPU that first touches a page."""


class Placement(NamedTuple):
    """Where one worker runs and where its memory comes from.

    A named tuple rather than a dataclass, because it is read by the small interpreter that binds a worker:
    importing :mod:`dataclasses` would double its start-up.
    """

    worker: int
    """Number of the worker, from 0."""
    node: int | None
    """Node of the CPUs, by its real id; None for a worker that is bound to no node."""
    cpus: tuple[int, ...]
    """CPUs that the worker may use, ascending; empty leaves the CPU mask alone."""
    memory_nodes: tuple[int, ...]
    """Nodes that the policy names; empty where there is none to name."""
    policy: MemoryPolicy
    """The memory policy; OFF leaves the process's policy alone."""
    threads: int
    """Size to give to thread pools: the CPUs, cut to this worker's share of the CPU quota."""

    def to_json(self) -> dict[str, Any]:
        """This placement in plain JSON types."""
        return dict(wire.encode(self))

    @classmethod
    def from_json(cls, data: Any) -> Placement:
        """The placement that ``to_json`` wrote; ValueError when it is malformed."""
        return wire.decode(cls, data)
