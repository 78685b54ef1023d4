"""Regions: the sets of whole cores that get workers of their own, each within one node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.gpus import ambiguous_order, find_gpu
from envdyno.agent.placement.nodes import Node
from envdyno.agent.placement.notes import Note, NoteKind, Skipped
from envdyno.agent.placement.request import Numa, Scope
from envdyno.agent.placement.topology import Topology

Core = tuple[int, ...]


class Region(NamedTuple):
    """Cores of one node that are shared out among that region's workers."""

    node: Node
    label: str
    """For sentences: ``node 0``, ``the L3 cache of CPUs 0-7``."""
    cores: tuple[Core, ...]
    """Usable CPUs grouped by core; neighbours share a cache and are of one class."""


class Found(NamedTuple):
    """The regions of a request, and what must be said about them."""

    regions: tuple[Region, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[Note, ...] = ()


def find_regions(topology: Topology, cores: Sequence[Core], numa: Numa, environ: Mapping[str, str]) -> Found:
    """The regions that ``numa`` asks for, made of the usable ``cores``.

    Raises:
        PlacementError: When a region was asked for that is not there or has no usable CPU.
    """
    usable, skipped = _node_regions(topology, cores)
    if numa.scope is Scope.NODES:
        return Found(tuple(_listed(topology, usable, node) for node in numa.nodes))
    if numa.scope is Scope.GPU:
        return _gpu_region(topology, usable, numa.gpu or "", environ)
    if numa.scope is Scope.PER_L3:
        domains = [domain.cpus for domain in topology.l3_domains]
        if not domains:
            raise PlacementError("--numa per-l3 was asked for, but this machine shows no level-3 cache.")
        return Found(_split(usable, domains, "the L3 cache of CPUs"), skipped)
    if numa.scope is Scope.PER_CLASS:
        classes = [item.cpus for item in topology.core_classes]
        if not classes:
            raise PlacementError("--numa per-class was asked for, but this machine has one kind of core.")
        return Found(_split(usable, classes, "the core class of CPUs"), skipped)
    return Found(usable, skipped)


def _node_regions(
    topology: Topology, cores: Sequence[Core]
) -> tuple[tuple[Region, ...], tuple[Skipped, ...]]:
    """One region for each node with usable CPUs; the other nodes with the reason why not.

    A core belongs to the first node that lists its first CPU. So even in a malformed tree, where nodes
    overlap or a core lies in two nodes, no CPU and no core is in two regions.
    """
    home = {cpu: node.id for node in reversed(topology.nodes) for cpu in node.cpus}
    place = _neighbourhood(topology)
    regions, skipped = [], []
    for node in topology.nodes:
        mine = [core for core in cores if home.get(core[0]) == node.id]
        inside = [tuple(cpu for cpu in core if cpu in node.cpus) for core in mine]
        inside.sort(key=lambda core: place(core[0]))
        if inside:
            regions.append(Region(node, f"node {node.id}", tuple(inside)))
        else:
            skipped.append(Skipped(node.id, _why_unusable(node)))
    return tuple(regions), tuple(skipped)


def _neighbourhood(topology: Topology) -> Callable[[int], tuple[int, int, int]]:
    """A sort key for CPUs: by class, then by level-3 cache, then by number."""
    kind = {cpu: index for index, item in enumerate(topology.core_classes) for cpu in item.cpus}
    cache = {cpu: index for index, item in enumerate(topology.l3_domains) for cpu in item.cpus}
    return lambda cpu: (kind.get(cpu, 0), cache.get(cpu, 0), cpu)


def _why_unusable(node: Node) -> str:
    if node.cpus:
        return (
            f"None of the CPUs {format_cpulist(node.cpus)} of node {node.id} may be used "
            "(affinity, cpuset, isolated, or not in --cpus)."
        )
    rest = "it is memory only" if node.has_memory else "and no memory"
    return f"Node {node.id} has no online CPU; {rest}."


def _listed(topology: Topology, usable: Sequence[Region], wanted: int) -> Region:
    """The region of a node that was asked for by its id."""
    for region in usable:
        if region.node.id == wanted:
            return region
    node = topology.node(wanted)
    can = format_cpulist(region.node.id for region in usable) or "none"
    if node is None:
        there = format_cpulist(item.id for item in topology.nodes)
        raise PlacementError(f"Node {wanted} was asked for, but the nodes of this machine are {there}.")
    raise PlacementError(
        f"A worker on node {wanted} was asked for. {_why_unusable(node)} Nodes with usable CPUs: {can}."
    )


def _gpu_region(
    topology: Topology, usable: Sequence[Region], which: str, environ: Mapping[str, str]
) -> Found:
    """The region local to a GPU; the nearest one with CPUs when the GPU's node has none."""
    gpu = find_gpu(topology.gpus, which, environ)
    notes = []
    if which.isdigit() and ambiguous_order(topology.gpus, environ):
        notes.append(
            f"GPU {which} is taken as the one at {gpu.address}, counted in PCI order; CUDA counts the "
            "fastest first when models differ, unless CUDA_DEVICE_ORDER=PCI_BUS_ID is set."
        )
    if gpu.node is None:
        if len(topology.nodes) > 1:
            raise PlacementError(
                f"GPU {which} ({gpu.address}) was asked for, but the platform does not tell which node it is "
                "attached to (numa_node is -1). Name the node: --numa 0."
            )
        notes.append(f"The platform does not tell the node of GPU {gpu.address}; there is only one.")
        wanted = topology.nodes[0].id
    else:
        wanted = gpu.node
    node = topology.node(wanted)
    if node is not None and not node.cpus and usable:
        nearest = min(usable, key=lambda region: (node.distance(region.node.id), region.node.id))
        notes.append(
            f"GPU {gpu.address} is attached to node {node.id}, which has no CPU; "
            f"node {nearest.node.id} is the nearest one with usable CPUs."
        )
        wanted = nearest.node.id
    region = _listed(topology, usable, wanted)
    return Found((region,), notes=tuple(Note(NoteKind.GPU_LOCALITY, message) for message in notes))


def _split(regions: Sequence[Region], domains: Sequence[tuple[int, ...]], label: str) -> tuple[Region, ...]:
    """Cut each node's region along the domains; a domain that spans nodes is cut at the node."""
    parts = []
    for region in regions:
        for domain in domains:
            members = set(domain)
            cores = tuple(core for core in region.cores if core[0] in members)
            if cores:
                parts.append(Region(region.node, f"{label} {format_cpulist(domain)}", cores))
    return tuple(parts)
