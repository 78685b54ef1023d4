"""What disturbs measuring on this machine: settings and load, each with what to do about it.

Nothing is changed; that is for whoever owns the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.host.machine import REGISTRY, Absent
from envdyno.host.procfs import machine_use, throttled_us
from envdyno.host.quiet import SAMPLE_S
from envdyno.host.site import Site

LOAD_LIMIT_CORES = 0.1


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
    began = time.monotonic()
    before = machine_use()
    time.sleep(sample_s)
    after = machine_use()
    elapsed_s = time.monotonic() - began  # on a loaded machine far more than was asked for
    chosen = site.chosen_cpus
    busy = (after.busy_on(chosen) - before.busy_on(chosen)) / elapsed_s
    yield Disturbance(
        "load on the chosen CPUs",
        f"{busy:.2f} of {len(chosen)} cores over {elapsed_s:.1f} s",
        "Other work runs: wait for it to end, or use --wait-idle." * (busy > LOAD_LIMIT_CORES),
    )
    if before.steal_s is None or after.steal_s is None:
        yield Disturbance("steal", "not told by this kernel")
        return
    steal = (sum(after.steal_s.values()) - sum(before.steal_s.values())) / elapsed_s
    yield Disturbance(
        "steal",
        f"{steal:.2f} cores over {elapsed_s:.1f} s",
        "The hypervisor gives CPU time to others: compare only figures taken side by side." * (steal > 0.05),
    )
