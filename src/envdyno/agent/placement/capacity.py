"""Compare what workers need with what their memory nodes have, before a strict bind.

A process that is bound to one node and fills it is ended by the kernel's out-of-memory killer, though other
nodes have room (seen on Linux 6.1: 283 MB bound to a node of 251 MB).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from envdyno.agent.placement.limits import Limits
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.topology import Topology
from envdyno.agent.placement.wire import Wire

_MIB = 1 << 20


class CapacityRisk(str, Enum):
    """What will happen when the need is what was estimated."""

    KILLED = "killed"
    """The node, or the memory limit, is too small: the kernel ends the process."""
    RECLAIM = "reclaim"
    """It fits only after the kernel has dropped page cache, which takes time inside the run."""


@dataclass(frozen=True)
class CapacityWarning(Wire):
    """One node, or the memory limit, that is too small for what it is to hold."""

    risk: CapacityRisk
    node: int | None
    """The node; None for the memory limit of the control group."""
    need_bytes: int
    free_bytes: int
    reclaimable_bytes: int
    message: str


def check_capacity(
    placements: Sequence[Placement], need_bytes: Sequence[int], topology: Topology, limits: Limits
) -> tuple[CapacityWarning, ...]:
    """Warnings for every node that strictly bound workers would fill, and for the memory limit.

    Args:
        placements: The workers.
        need_bytes: Estimated memory of each, in the same order.
        topology: The machine, with each node's free memory as it was read.
        limits: The process's limits.
    """
    by_node: Counter[int] = Counter()
    for placement, need in zip(placements, need_bytes, strict=True):
        if placement.policy is MemoryPolicy.BIND and len(placement.memory_nodes) == 1:
            by_node[placement.memory_nodes[0]] += need
    warnings = [_check_node(topology, node, need) for node, need in sorted(by_node.items())]
    warnings.append(_check_limit(limits, sum(need_bytes)))
    return tuple(warning for warning in warnings if warning is not None)


def _check_node(topology: Topology, node_id: int, need: int) -> CapacityWarning | None:
    node = topology.node(node_id)
    if node is None or node.free_bytes is None or need <= node.free_bytes:
        return None
    cache = node.reclaimable_bytes or 0
    fits = need <= node.free_bytes + cache
    amounts = f"{_mib(need)} are needed on node {node_id}, which has {_mib(node.free_bytes)} free"
    if fits:
        message = f"{amounts}: the kernel has to drop page cache ({_mib(cache)} can be) during the run."
    else:
        message = (
            f"{amounts} and {_mib(cache)} of page cache to drop: a worker bound to it will be killed for "
            "lack of memory, though other nodes may have room. Use --mem preferred, which may take memory "
            "from elsewhere, or fewer environments."
        )
    risk = CapacityRisk.RECLAIM if fits else CapacityRisk.KILLED
    return CapacityWarning(risk, node_id, need, node.free_bytes, cache, message)


def _check_limit(limits: Limits, need: int) -> CapacityWarning | None:
    limit = limits.memory_limit_bytes
    if limit is None or need <= limit:
        return None
    return CapacityWarning(
        CapacityRisk.KILLED,
        None,
        need,
        limit,
        0,
        f"{_mib(need)} are needed in all, and the control group's memory limit is {_mib(limit)} "
        f"({limits.memory_limit_source}): a worker will be killed. "
        "Use fewer environments, or raise the limit.",
    )


def _mib(size: int) -> str:
    return f"{size / _MIB:,.0f} MiB"
