"""Placement for training code: find out about the machine, choose, bind, start children, look.

Standard library only; importing it changes nothing. A trainer that starts one collector a NUMA node::

    from envdyno import placement

    choice = placement.choose(numa="auto")
    for spot in choice.placements:
        with placement.spawn_placement(spot):
            processes[spot.worker].start()      # multiprocessing's "spawn" start method

Nothing here raises because a system cannot bind: the outcome of each binding tells what was applied and what
was not, and why. On macOS, in sandboxes and on machines with one node the same code runs, unbound if need be.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdyno.agent.placement import choice as _choice
from envdyno.agent.placement.bind import apply
from envdyno.agent.placement.choice import Choice
from envdyno.agent.placement.cpulist import format_cpulist, parse_cpulist
from envdyno.agent.placement.errors import PlacementError, RestoreError
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.limits import Limits, read_limits
from envdyno.agent.placement.nodes import Node
from envdyno.agent.placement.notes import Note, NoteKind, Skipped
from envdyno.agent.placement.outcome import Fact, Outcome, State
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.pools import ThreadVariables, thread_variables
from envdyno.agent.placement.request import Request, Smt
from envdyno.agent.placement.restore import bound
from envdyno.agent.placement.spawn import spawn_placement
from envdyno.agent.placement.topology import Topology, read_topology
from envdyno.agent.placement.verify import Audit, Finding, FindingKind, audit

__all__ = [
    "Audit",
    "Choice",
    "Fact",
    "Finding",
    "FindingKind",
    "Limits",
    "MemoryPolicy",
    "Node",
    "Note",
    "NoteKind",
    "Outcome",
    "Placement",
    "PlacementError",
    "Request",
    "RestoreError",
    "Skipped",
    "Smt",
    "State",
    "ThreadVariables",
    "Topology",
    "apply",
    "audit",
    "bound",
    "choose",
    "format_cpulist",
    "limits",
    "parse_cpulist",
    "spawn_placement",
    "thread_variables",
    "topology",
]


def topology(root: Root = "/") -> Topology:
    """Nodes, CPUs, cores, caches and GPUs of this machine.

    Args:
        root: Where ``/sys`` and ``/proc`` are looked for.

    Returns:
        What the system shows. Where it shows no nodes, node 0 stands for the whole machine and ``synthetic``
        says so; whatever was missing or malformed is in ``problems``.
    """
    return read_topology(root)


def limits(root: Root = "/", pid: int | str = "self") -> Limits:
    """What a process may use: affinity, cpuset, CPU quota and memory limit of its control groups.

    Args:
        root: Where ``/sys`` and ``/proc`` are looked for.
        pid: The process; the calling one by default.
    """
    return read_limits(root, pid)


def choose(
    numa: str = "auto",
    *,
    workers_per_node: int = 1,
    cpus: str | Iterable[int] | None = None,
    smt: Smt | str = Smt.ON,
    memory: MemoryPolicy | str = MemoryPolicy.BIND,
    on: Topology | None = None,
    within: Limits | None = None,
) -> Choice:
    """Choose CPUs and memory for every worker.

    No CPU and no core is in two placements, and none outside what the process may use.

    Args:
        numa: ``auto`` (one worker on every node with usable CPUs), ``off`` (one unbound worker), a list of
            nodes such as ``0,1``, ``gpu:K`` (the node local to a GPU), ``per-l3`` (one worker for each
            level-3 cache) or ``per-class`` (one for each kind of core).
        workers_per_node: Workers among which each node's cores are shared out.
        cpus: Use these only, as a list (``0-3,8``) or ids; by default all that are allowed and not isolated.
        smt: ``off`` uses one CPU of each core.
        memory: ``bind``, ``preferred``, ``interleave`` or ``off``.
        on: The machine; this one by default.
        within: The limits; those of this process by default.

    Raises:
        PlacementError: When something was asked for that is not there; the message names both.
    """
    if cpus is not None:
        cpus = parse_cpulist(cpus) if isinstance(cpus, str) else tuple(cpus)
    try:
        request = Request(numa, workers_per_node, cpus, Smt(smt), MemoryPolicy(memory))
    except ValueError as error:
        raise PlacementError(
            f"smt={smt!r}, memory={memory!r}: smt is on or off; memory is bind, preferred, interleave or off."
        ) from error
    return _choice.choose(on or read_topology(), within or read_limits(), request)
