"""The site of a run: this machine, what may be used of it, and where each worker goes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass

from envdyno.agent.placement.choice import Choice, choose
from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import Limits, read_limits
from envdyno.agent.placement.notes import Note, NoteKind
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.request import Request, Scope, parse_numa
from envdyno.agent.placement.topology import Topology, read_topology
from envdyno.host.gpu import identify
from envdyno.plan.usage_error import UsageError


@dataclass(frozen=True)
class Site:
    """A machine as it was read, and the placements chosen on it."""

    topology: Topology
    limits: Limits
    choice: Choice

    @property
    def chosen_cpus(self) -> tuple[int, ...]:
        """CPUs that any worker may use; for unbound workers, all that the process may use."""
        cpus = {cpu for placement in self.choice.placements for cpu in placement.cpus}
        return tuple(sorted(cpus)) or self.limits.affinity or self.topology.cpus


def survey(request: Request) -> Site:
    """Read the machine and choose the placements.

    Raises:
        UsageError: something was asked for that is not there.
    """
    topology = read_topology()
    limits = read_limits()
    environ: Mapping[str, str] = os.environ
    notes: tuple[Note, ...] = ()
    try:
        if parse_numa(request.numa).scope is Scope.GPU:
            found = identify(topology, environ)
            topology, environ = found.topology, found.environ
            notes = (Note(NoteKind.GPU_LOCALITY, found.note),) if found.note else ()
        choice = choose(topology, limits, request, environ)
    except PlacementError as error:
        raise UsageError(str(error)) from error
    return Site(topology, limits, dataclasses.replace(choice, notes=(*choice.notes, *notes)))


def placement_in_words(placement: Placement) -> str:
    """Return a placement as one line: CPUs, and where memory comes from."""
    cpus = f"CPUs {format_cpulist(placement.cpus)}" if placement.cpus else "CPUs unbound"
    if placement.policy is MemoryPolicy.OFF:
        return f"{cpus}, memory unbound"
    return f"{cpus}, memory {placement.policy.value} {format_cpulist(placement.memory_nodes)}"
