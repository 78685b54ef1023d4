"""What must be said about a choice of placements, as values that travel with it."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from envdyno.agent.placement import wire


class NoteKind(str, Enum):
    """What a note is about."""

    NO_NODES = "no_nodes"
    """The system shows no nodes; the whole machine is taken as one."""
    ISOLATED = "isolated"
    """Isolated CPUs were left out, or were used because they were named."""
    QUOTA = "quota"
    """The CPU quota gives less than the chosen CPUs."""
    MIXED_CLASSES = "mixed_classes"
    """A worker has fast and slow cores."""
    REMOTE_MEMORY = "remote_memory"
    """A worker's memory is on another node than its CPUs."""
    MEMORY_ONLY_NODES = "memory_only_nodes"
    """There is memory without CPUs, which no worker uses."""
    NUMA_BALANCING = "numa_balancing"
    """The kernel moves pages between nodes, and memory is not bound."""
    GPU_LOCALITY = "gpu_locality"
    """How a GPU was mapped to a node."""
    TOPOLOGY = "topology"
    """Something in the machine's description is not as it should be."""


class Note(NamedTuple):
    """One thing to say, as a sentence."""

    kind: NoteKind
    message: str

    def to_json(self) -> dict[str, Any]:
        """This note in plain JSON types."""
        return dict(wire.encode(self))


class Skipped(NamedTuple):
    """A node that gets no worker, and why."""

    node: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        """This node in plain JSON types."""
        return dict(wire.encode(self))
