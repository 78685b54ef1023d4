"""Which CPUs there are to choose from: online, allowed, not isolated, named by the user."""

from __future__ import annotations

from collections.abc import Iterable

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import Limits
from envdyno.agent.placement.request import Request, Smt
from envdyno.agent.placement.topology import Topology


def allowed_cpus(topology: Topology, limits: Limits) -> tuple[int, ...]:
    """CPUs that the process may use and that are online, ascending.

    Raises:
        PlacementError: When there is none.
    """
    if limits.affinity is None:
        return topology.cpus
    mask = set(limits.affinity)
    allowed = tuple(cpu for cpu in topology.cpus if cpu in mask)
    if not allowed:
        raise PlacementError(
            f"No CPU can be used: the process may run on {format_cpulist(mask) or 'none'}, "
            f"and {format_cpulist(topology.cpus)} are online."
        )
    return allowed


def usable_cpus(topology: Topology, allowed: tuple[int, ...], request: Request) -> tuple[int, ...]:
    """CPUs to choose from: those that the user named, else the allowed ones that are not isolated.

    Raises:
        PlacementError: When a named CPU may not be used, or nothing is left.
    """
    if request.cpus is not None:
        return _named(topology, allowed, request.cpus)
    isolated = set(topology.isolated)
    usable = tuple(cpu for cpu in allowed if cpu not in isolated)
    if not usable:
        cpus = format_cpulist(allowed)
        raise PlacementError(
            f"All CPUs that may be used ({cpus}) are isolated. To use them all the same: --cpus {cpus}."
        )
    return usable


def usable_cores(topology: Topology, usable: Iterable[int], smt: Smt) -> tuple[tuple[int, ...], ...]:
    """The usable CPUs grouped by core; with SMT off, the first usable CPU of each core."""
    members = set(usable)
    cores = []
    for siblings in topology.siblings:
        core = tuple(cpu for cpu in siblings if cpu in members)
        if core:
            cores.append(core if smt is Smt.ON else core[:1])
    return tuple(cores)


def _named(topology: Topology, allowed: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    if not wanted:
        raise PlacementError("An empty list of CPUs was asked for; --cpus needs at least one.")
    outside = [cpu for cpu in wanted if cpu not in allowed]
    if not outside:
        return tuple(sorted(set(wanted)))
    online, offline, isolated = set(topology.cpus), set(topology.offline), set(topology.isolated)
    groups = (
        ("not on this machine", [cpu for cpu in outside if cpu not in online | offline]),
        ("offline", [cpu for cpu in outside if cpu in offline]),
        ("outside the process's affinity mask or cpuset", [cpu for cpu in outside if cpu in online]),
    )
    # The kernel leaves isolated CPUs out of the mask that every process inherits.
    remedy = (
        f" Isolated CPUs have to be in the mask: start under `taskset -c {format_cpulist(wanted)}`."
        * bool(isolated & set(outside))
    )
    reasons = " and ".join(f"{format_cpulist(cpus)} {_is(cpus)} {why}" for why, cpus in groups if cpus)
    raise PlacementError(
        f"The CPUs {format_cpulist(wanted)} were asked for, but {reasons}. "
        f"CPUs that may be used: {format_cpulist(allowed)}.{remedy}"
    )


def _is(cpus: list[int]) -> str:
    return "is" if len(cpus) == 1 else "are"
