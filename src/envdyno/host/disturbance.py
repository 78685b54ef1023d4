"""What disturbs measuring on this machine: settings and load, each with what to do about it.

Nothing is changed; that is for whoever owns the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.host.load import SAMPLE_S, sample_load
from envdyno.host.machine import REGISTRY, Absent
from envdyno.host.procfs import throttled_us
from envdyno.host.site import Site
from envdyno.plan.run_request import FOREIGN_LOAD_LIMIT_CORES


@dataclass(frozen=True)
class Disturbance:
    """One thing that disturbs, or that cannot be told."""

    name: str
    found: str
    advice: str = ""
    """What to do; empty where all is well."""


def disturbances(site: Site, root: Path = Path("/"), sample_s: float = SAMPLE_S) -> list[Disturbance]:
    """Return every check with its outcome, also those where all is well.

    Takes ``sample_s`` seconds, for load and steal are sampled.
    """
    return [*_settings(root), *_memory(site), *_quota(site), *_load(site, sample_s)]


def _fact(name: str, root: Path) -> str:
    reader: Callable[[Path], object] = next(fact.read for fact in REGISTRY if fact.name == name)
    try:
        return str(reader(root))
    except Absent as reason:
        return f"not told: {reason}"


def _settings(root: Path) -> Iterator[Disturbance]:
    governor = _fact("governor", root)
    slow = not governor.startswith("not told") and governor != "performance"
    yield Disturbance(
        "governor", governor, "The clock follows the load. Set the governor to performance." * slow
    )
    turbo = _fact("turbo", root)
    yield Disturbance(
        "turbo", turbo, "The clock depends on temperature and on busy neighbours." * (turbo == "on")
    )
    smt = _fact("smt", root)
    yield Disturbance("smt", smt, "Two threads share a core; --smt off uses one of each." * (smt == "on"))


def _memory(site: Site) -> Iterator[Disturbance]:
    balancing = site.topology.numa_balancing
    unbound = any(placement.policy is MemoryPolicy.OFF for placement in site.choice.placements)
    disturbs = bool(balancing) and unbound and len(site.topology.nodes) > 1
    yield Disturbance(
        "NUMA balancing",
        "not told" if balancing is None else ("on" if balancing else "off"),
        "The kernel moves pages while you measure. Bind memory (--mem bind)." * disturbs,
    )


def _quota(site: Site) -> Iterator[Disturbance]:
    quota = site.limits.quota_cpus
    if quota is None:
        yield Disturbance("CPU quota", "none")
        return
    cpus = len(site.chosen_cpus)
    stopped = throttled_us()
    history = "" if stopped is None else f", stopped for {stopped / 1e6:.1f} s so far"
    yield Disturbance(
        "CPU quota",
        f"{quota:g} CPUs{history}",
        f"It grants less than the {cpus} CPUs chosen: pools that size themselves by CPUs get stopped."
        * (quota < cpus),
    )


def _load(site: Site, sample_s: float) -> Iterator[Disturbance]:
    load = sample_load(sample_s)
    chosen = site.chosen_cpus
    busy = load.busy_cores(chosen)
    yield Disturbance(
        "load on the chosen CPUs",
        f"{busy:.2f} of {len(chosen)} cores over {load.elapsed_s:.1f} s",
        "Other work runs: wait for it to end, or use --wait-idle." * (busy > FOREIGN_LOAD_LIMIT_CORES),
    )
    stolen = load.stolen_cores
    if stolen is None:
        yield Disturbance("steal", "not told by this kernel")
        return
    yield Disturbance(
        "steal",
        f"{stolen:.2f} cores over {load.elapsed_s:.1f} s",
        "The hypervisor gives CPU time to others: compare only figures taken side by side." * (stolen > 0.05),
    )
