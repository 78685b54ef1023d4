"""NUMA nodes as sysfs shows them, by their real ids."""

from __future__ import annotations

from dataclasses import dataclass

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.cpulist import parse_mask
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.wire import Wire

_FOLDER = "/sys/devices/system/node"
_KIB = 1024


@dataclass(frozen=True)
class Node(Wire):
    """One NUMA node: CPUs, memory, or both."""

    id: int
    cpus: tuple[int, ...]
    """Online CPUs of the node; empty for memory without CPUs (CXL, HBM, GPU memory)."""
    memory_bytes: int | None
    """Total memory; 0 for CPUs without memory, None when the kernel does not tell."""
    free_bytes: int | None
    """Memory that nothing uses, when it was read."""
    reclaimable_bytes: int | None
    """Page cache and slabs that the kernel can drop when a process asks for more."""
    distances: dict[int, int]
    """Distance to each online node by its id, 10 being local; empty when the kernel does not tell."""

    @property
    def has_memory(self) -> bool:
        """Whether pages can come from this node; a node that does not tell is taken to have memory."""
        return self.memory_bytes is None or self.memory_bytes > 0

    def distance(self, other: int) -> float:
        """Distance to another node; infinite when the kernel does not tell."""
        return self.distances.get(other, 10 if other == self.id else float("inf"))


def read_nodes(root: Root, online_cpus: tuple[int, ...], problems: list[str]) -> tuple[Node, ...]:
    """The online nodes, ascending by id; empty when there is no node directory.

    Args:
        root: Root of the file system.
        online_cpus: CPUs that are online; others are left out of every node.
        problems: Gets a sentence for each thing that is not as it should be.
    """
    present = kernelfs.numbered(root, _FOLDER, "node")
    online = kernelfs.read_list(root, f"{_FOLDER}/online", problems)
    if online is None:
        online = present
    with_memory = kernelfs.read_list(root, f"{_FOLDER}/has_memory", problems)
    nodes = []
    for node in online:
        if node not in present:
            problems.append(f"Node {node} is listed as online, but {_FOLDER}/node{node} is missing.")
            continue
        nodes.append(_read_node(root, node, online, with_memory, set(online_cpus), problems))
    return tuple(nodes)


def _read_node(
    root: Root,
    node: int,
    online: tuple[int, ...],
    with_memory: tuple[int, ...] | None,
    online_cpus: set[int],
    problems: list[str],
) -> Node:
    folder = f"{_FOLDER}/node{node}"
    amounts = _read_meminfo(root, folder)
    total = amounts.get("MemTotal")
    if with_memory is not None and node not in with_memory:
        total = 0
    reclaimable = [
        amounts[key] for key in ("Active(file)", "Inactive(file)", "SReclaimable") if key in amounts
    ]
    return Node(
        id=node,
        cpus=tuple(cpu for cpu in _read_cpus(root, folder, problems) if cpu in online_cpus),
        memory_bytes=total,
        free_bytes=amounts.get("MemFree"),
        reclaimable_bytes=sum(reclaimable) if reclaimable else None,
        distances=_read_distances(root, folder, online, problems),
    )


def _read_cpus(root: Root, folder: str, problems: list[str]) -> tuple[int, ...]:
    """CPUs of a node from its list, else its mask, else the links to CPUs in its folder."""
    cpus = kernelfs.read_list(root, f"{folder}/cpulist", problems)
    if cpus is not None:
        return cpus
    mask = kernelfs.read_text(root, f"{folder}/cpumap")
    if mask is not None:
        try:
            return parse_mask(mask)
        except PlacementError as error:
            problems.append(f"{folder}/cpumap: {error}")
    return kernelfs.numbered(root, folder, "cpu")


def _read_meminfo(root: Root, folder: str) -> dict[str, int]:
    """Amounts in a node's meminfo in bytes; lines read ``Node 0 MemTotal: 4286236 kB``."""
    amounts = {}
    for line in (kernelfs.read_text(root, f"{folder}/meminfo") or "").splitlines():
        label, _, value = line.partition(":")
        fields = value.split()
        if fields and fields[0].isdigit() and label.split():
            amounts[label.split()[-1]] = int(fields[0]) * (_KIB if fields[-1] == "kB" else 1)
    return amounts


def _read_distances(root: Root, folder: str, online: tuple[int, ...], problems: list[str]) -> dict[int, int]:
    """The row of distances. Its columns follow the online nodes in order, not the node ids."""
    fields = (kernelfs.read_text(root, f"{folder}/distance") or "").split()
    if not fields:
        return {}
    if len(fields) != len(online) or not all(field.isdigit() for field in fields):
        problems.append(
            f"{folder}/distance has {len(fields)} columns for {len(online)} online nodes; it is not used."
        )
        return {}
    return {other: int(field) for other, field in zip(online, fields, strict=True)}
