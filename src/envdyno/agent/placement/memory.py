"""Which nodes a worker's memory comes from, and by which policy."""

from __future__ import annotations

from typing import NamedTuple

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.limits import Limits
from envdyno.agent.placement.nodes import Node
from envdyno.agent.placement.notes import Note, NoteKind
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.topology import Topology


class MemoryChoice(NamedTuple):
    """The memory half of a placement."""

    nodes: tuple[int, ...]
    policy: MemoryPolicy
    note: Note | None = None


def choose_memory(topology: Topology, limits: Limits, node: Node, policy: MemoryPolicy) -> MemoryChoice:
    """Memory for a worker whose CPUs are on ``node``.

    A node that has memory, and whose memory is allowed, serves itself. Otherwise the worker *prefers* the
    nearest node whose memory is allowed (a strict bind to a foreign node would only add the risk of being
    killed when that fills). Interleaving goes over the allowed memory nodes that have CPUs; memory without
    CPUs is slower and is left alone.

    A system without nodes has no memory node to name.
    """
    if policy is MemoryPolicy.OFF:
        return MemoryChoice((), policy)
    if topology.synthetic:
        return MemoryChoice((), policy)
    sources = memory_sources(topology, limits)
    if policy is MemoryPolicy.INTERLEAVE:
        beside_cpus = tuple(item.id for item in sources if item.cpus)
        return MemoryChoice(beside_cpus or tuple(item.id for item in sources), policy)
    if any(item.id == node.id for item in sources):
        return MemoryChoice((node.id,), policy)
    if not sources:
        return MemoryChoice((), policy)
    nearest = min(sources, key=lambda item: (node.distance(item.id), item.id))
    why = (
        f"its cpuset allows memory of node {format_cpulist(limits.mems_allowed or ())} only"
        if node.has_memory
        else "it has no memory"
    )
    return MemoryChoice(
        (nearest.id,),
        MemoryPolicy.PREFERRED,
        Note(
            NoteKind.REMOTE_MEMORY,
            f"Memory of a worker on node {node.id} is remote: {why}. Node {nearest.id} is preferred, "
            "the nearest one whose memory may be used.",
        ),
    )


def memory_sources(topology: Topology, limits: Limits) -> tuple[Node, ...]:
    """Nodes that have memory which the process may use."""
    allowed = limits.mems_allowed
    return tuple(
        node for node in topology.nodes if node.has_memory and (allowed is None or node.id in allowed)
    )
