"""How much room this machine has for the workers of a sweep: CPUs of each, and memory for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envdyno.agent.placement.pools import SIZES
from envdyno.host.site import Site, survey
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.planned_request import placement_request
from envdyno.plan.sweep_grid import Room, Rooms, workers_wanted
from envdyno.plan.sweep_section import SweepSection
from envdyno.plan.usage_error import UsageError


def rooms_of(plan: ExperimentPlan, section: SweepSection) -> Rooms:
    """Choose the placements for every number of workers a node that a sweep asks about."""
    rooms: dict[int, Room | str] = {}
    for count in workers_wanted(section):
        try:
            site = survey(placement_request(plan, count))
        except UsageError as error:
            rooms[count] = str(error)
            continue
        placements = site.choice.placements
        cpus = min(len(placement.cpus) or len(site.chosen_cpus) for placement in placements)
        rooms[count] = Room(len(placements), cpus)
    return rooms


def memory_room_bytes(site: Site) -> int | None:
    """Return the memory that the workers could have: free or only cached, and within the limit."""
    free = [node.free_bytes for node in site.topology.nodes]
    if None in free or not free:
        return site.limits.memory_limit_bytes
    total = sum((node.free_bytes or 0) + (node.reclaimable_bytes or 0) for node in site.topology.nodes)
    limit = site.limits.memory_limit_bytes
    return total if limit is None else min(total, limit)


def variables_that_win(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence where the user's own variables size thread pools, whatever a sweep says."""
    kept = [f"{name}={environ[name]}" for name in SIZES if environ.get(name, "").strip()]
    if kept:
        yield (
            f"{', '.join(kept)} in your environment wins over the threads of a setting. Unset it for a "
            "sweep over threads."
        )
