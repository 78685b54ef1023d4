"""Which CPUs and which memory each worker gets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from envdyno.agent.placement.advice import advise
from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import Limits
from envdyno.agent.placement.memory import choose_memory
from envdyno.agent.placement.notes import Note, NoteKind, Skipped
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.regions import Found, Region, find_regions
from envdyno.agent.placement.request import Numa, Request, Scope, Smt, parse_numa
from envdyno.agent.placement.shares import even_sizes, share_out, thread_counts
from envdyno.agent.placement.topology import Topology
from envdyno.agent.placement.usable import allowed_cpus, usable_cores, usable_cpus
from envdyno.agent.placement.wire import Wire

__all__ = [
    "Choice",
    "MemoryPolicy",
    "Note",
    "NoteKind",
    "Placement",
    "PlacementError",
    "Request",
    "Skipped",
    "Smt",
    "choose",
]


@dataclass(frozen=True)
class Choice(Wire):
    """The placements of all workers, and what must be said about them."""

    placements: tuple[Placement, ...]
    skipped: tuple[Skipped, ...]
    """Nodes that get no worker, with the reason."""
    notes: tuple[Note, ...]
    """What the user should know."""
    idle_cpus: tuple[int, ...]
    """CPUs that may be used and are in no placement; empty when a worker is unbound."""


def choose(
    topology: Topology,
    limits: Limits,
    request: Request | None = None,
    environ: Mapping[str, str] | None = None,
) -> Choice:
    """Choose a placement for every worker.

    No placement has a CPU outside the allowed ones; no CPU and no core is in two placements.

    Args:
        topology: The machine.
        limits: What the calling process may use of it.
        request: What the user asks for; one worker a usable node by default.
        environ: Environment of the workload, for what GPU numbers mean; this process's by default.

    Raises:
        PlacementError: When something was asked for that is not there. The message names both.
    """
    request = request or Request()
    numa = parse_numa(request.numa)
    _check_workers(request, numa)
    allowed = allowed_cpus(topology, limits)
    cores = usable_cores(topology, usable_cpus(topology, allowed, request), request.smt)
    notes: tuple[Note, ...] = ()
    if numa.scope is Scope.OFF:
        found = Found(())
        placements = _unbound(topology, limits, request, cores)
    else:
        found = find_regions(topology, cores, numa, os.environ if environ is None else environ)
        placements, notes = _bound(topology, limits, request, found)
    if request.threads is not None:
        placements = _with_threads(placements, request.threads, sum(map(len, cores)))
    taken = {cpu for placement in placements for cpu in placement.cpus}
    return Choice(
        placements=placements,
        skipped=found.skipped,
        notes=(*found.notes, *notes, *advise(topology, limits, allowed, placements)),
        idle_cpus=tuple(cpu for cpu in allowed if cpu not in taken) if taken else (),
    )


def _check_workers(request: Request, numa: Numa) -> None:
    workers = request.workers_per_node
    if workers < 1:
        raise PlacementError(f"{workers} workers a node were asked for; at least 1 is needed.")
    if workers > 1 and numa.scope in (Scope.PER_L3, Scope.PER_CLASS):
        raise PlacementError(
            f"--numa {request.numa} says by itself how many workers a node gets; "
            "leave out --workers-per-node."
        )


def _bound(
    topology: Topology, limits: Limits, request: Request, found: Found
) -> tuple[tuple[Placement, ...], tuple[Note, ...]]:
    """Placements in the regions, workers numbered in the order of the regions."""
    if not found.regions:
        raise PlacementError(
            "No worker can be placed: no usable CPU is in a node. To run without binding: --numa off."
        )
    shares = [(region, cpus) for region in found.regions for cpus in _region_shares(region, request)]
    threads = thread_counts([len(cpus) for _, cpus in shares], limits.quota_cpus)
    placements = []
    notes: dict[Note, None] = {}
    for worker, (region, cpus) in enumerate(shares):
        memory = choose_memory(topology, limits, region.node, request.memory)
        placements.append(
            Placement(worker, region.node.id, cpus, memory.nodes, memory.policy, threads[worker])
        )
        if memory.note is not None:
            notes[memory.note] = None
    return tuple(placements), tuple(notes)


def _with_threads(placements: tuple[Placement, ...], threads: int, machine: int) -> tuple[Placement, ...]:
    """The placements with pools of another size; ``machine`` is the CPUs that an unbound worker may use."""
    if threads < 1:
        raise PlacementError(f"{threads} threads a worker were asked for; at least 1 is needed.")
    for placement in placements:
        room = len(placement.cpus) or machine
        if threads > room:
            where = f" ({format_cpulist(placement.cpus)})" if placement.cpus else ""
            raise PlacementError(
                f"{threads} threads a worker were asked for, and worker {placement.worker} has {room} "
                f"CPU{'s' * (room != 1)}{where}: more threads than CPUs only take turns. "
                f"Ask for at most {room}."
            )
    return tuple(placement._replace(threads=threads) for placement in placements)


def _region_shares(region: Region, request: Request) -> tuple[tuple[int, ...], ...]:
    workers = request.workers_per_node
    if workers > len(region.cores):
        cpus = format_cpulist(cpu for core in region.cores for cpu in core)
        raise PlacementError(
            f"{workers} workers were asked for on {region.label}, which has {len(region.cores)} usable "
            f"{'core' if len(region.cores) == 1 else 'cores'} (CPUs {cpus}); a core is never split."
        )
    return share_out(region.cores, workers)


def _unbound(
    topology: Topology, limits: Limits, request: Request, cores: tuple[tuple[int, ...], ...]
) -> tuple[Placement, ...]:
    """Workers bound to no node. CPUs are bound only when the user named some, memory only to interleave."""
    workers = request.workers_per_node
    if request.cpus is not None:
        machine = Region(topology.nodes[0], "the CPUs named", cores)
        shares = _region_shares(machine, request)
        threads = thread_counts([len(cpus) for cpus in shares], limits.quota_cpus)
    else:
        shares = ((),) * workers
        total = min(limits.effective_cpus, sum(len(core) for core in cores))
        threads = tuple(max(1, size) for size in even_sizes(total, workers))
    spread = request.memory is MemoryPolicy.INTERLEAVE
    memory = choose_memory(
        topology, limits, topology.nodes[0], MemoryPolicy.INTERLEAVE if spread else MemoryPolicy.OFF
    )
    return tuple(
        Placement(worker, None, cpus, memory.nodes, memory.policy, threads[worker])
        for worker, cpus in enumerate(shares)
    )
