"""Notes on a choice: what in the machine or in the limits the user should know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.limits import Limits
from envdyno.agent.placement.notes import Note, NoteKind
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.topology import Topology


def advise(
    topology: Topology, limits: Limits, allowed: tuple[int, ...], placements: Sequence[Placement]
) -> tuple[Note, ...]:
    """Everything to say about ``placements`` on this machine, in a fixed order."""
    notes = [
        *_topology(topology),
        *_isolated(topology, allowed, placements),
        *_memory_only(topology),
        *_quota(limits, placements),
        *_classes(topology, placements),
        *_balancing(topology, placements),
    ]
    return tuple(notes)


def _topology(topology: Topology) -> Iterator[Note]:
    if topology.synthetic:
        yield Note(NoteKind.NO_NODES, topology.synthetic_reason or "The system shows no NUMA nodes.")
    for problem in topology.problems:
        yield Note(NoteKind.TOPOLOGY, problem)
    homeless = sorted(set(topology.cpus) - {cpu for node in topology.nodes for cpu in node.cpus})
    if homeless:
        yield Note(
            NoteKind.TOPOLOGY, f"The CPUs {format_cpulist(homeless)} are in no node and get no bound worker."
        )


def _isolated(
    topology: Topology, allowed: tuple[int, ...], placements: Sequence[Placement]
) -> Iterator[Note]:
    isolated = set(topology.isolated)
    used = {cpu for placement in placements for cpu in placement.cpus} & isolated
    left = (set(topology.cpus) & isolated) - used
    if used:
        yield Note(
            NoteKind.ISOLATED,
            f"The CPUs {format_cpulist(used)} are isolated: the kernel does not balance threads between "
            "them, so threads that are not pinned one by one can all stay on one.",
        )
    if left:
        # The kernel leaves isolated CPUs out of the mask that processes inherit from the boot on.
        start = "" if left <= set(allowed) else f" after starting under `taskset -c {format_cpulist(left)}`"
        yield Note(
            NoteKind.ISOLATED,
            f"The isolated CPUs {format_cpulist(left)} are left out. To use them, name them: --cpus{start}.",
        )


def _memory_only(topology: Topology) -> Iterator[Note]:
    nodes = [node for node in topology.nodes if not node.cpus and node.has_memory]
    if nodes:
        listed = format_cpulist(node.id for node in nodes)
        yield Note(NoteKind.MEMORY_ONLY_NODES, f"Memory without CPUs (CXL, HBM or GPU): node {listed}.")


def _quota(limits: Limits, placements: Sequence[Placement]) -> Iterator[Note]:
    quota = limits.quota_cpus
    chosen = sum(len(placement.cpus) for placement in placements) or len(limits.affinity or ())
    if quota is None or quota >= chosen:
        return
    threads = sum(placement.threads for placement in placements)
    sentence = (
        f"The CPU quota ({quota:g} CPUs, {limits.quota_source}) gives less than the {chosen} CPUs chosen: "
        f"thread pools get {threads} threads in all."
    )
    if threads > quota:
        sentence += " That is still more than the quota, so workers will be throttled."
    yield Note(NoteKind.QUOTA, sentence)


def _classes(topology: Topology, placements: Sequence[Placement]) -> Iterator[Note]:
    for placement in placements:
        cpus = set(placement.cpus or topology.cpus)
        mixed = [item for item in topology.core_classes if cpus & set(item.cpus)]
        if len(mixed) > 1:
            parts = ", ".join(
                f"{format_cpulist(cpus & set(item.cpus))} are {item.name} cores" for item in mixed
            )
            yield Note(
                NoteKind.MIXED_CLASSES,
                f"Worker {placement.worker} mixes kinds of cores: {parts}. A vector step waits for the "
                "slowest; --numa per-class gives each kind a worker, --cpus chooses one kind.",
            )


def _balancing(topology: Topology, placements: Sequence[Placement]) -> Iterator[Note]:
    unbound = any(placement.policy is MemoryPolicy.OFF for placement in placements)
    if topology.numa_balancing and unbound and len(topology.nodes) > 1:
        yield Note(
            NoteKind.NUMA_BALANCING,
            "Memory is not bound and the kernel moves pages between nodes by itself (numa_balancing is "
            f"{topology.numa_balancing}): figures of runs will differ by where pages end up.",
        )
