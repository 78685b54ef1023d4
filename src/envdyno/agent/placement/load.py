"""How busy CPUs are over a short time, from two readings of ``/proc/stat``; for ``--exclusive``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.wire import Wire

BUSY_LIMIT_CPUS = 0.1
"""Load of others from which on CPUs count as taken: the limit on foreign load of a run."""


class CpuTimes(NamedTuple):
    """Time of one CPU since boot, in clock ticks."""

    busy: int
    """Running anything, interrupts included."""
    stolen: int
    """Taken by the hypervisor for other guests."""
    idle: int
    """Nothing to run; waiting for disks counts as idle."""


@dataclass(frozen=True)
class Load(Wire):
    """How busy a set of CPUs was between two readings."""

    busy_cpus: float
    """CPUs' worth of time that was used, or stolen by the hypervisor."""
    by_cpu: dict[int, float]
    """The same of each CPU, from 0 to 1; CPUs that went away are left out."""


def read_cpu_times(root: Root = "/") -> dict[int, CpuTimes]:
    """Times of every online CPU (``man 5 proc_stat``); empty where there is no ``/proc/stat``."""
    times = {}
    for line in (kernelfs.read_text(root, "/proc/stat") or "").splitlines():
        fields = line.split()
        if not fields or not fields[0].startswith("cpu") or not fields[0][3:].isdigit() or len(fields) < 5:
            continue
        # user nice system idle iowait irq softirq steal; guest time is inside user and nice already.
        user, nice, system, idle, iowait, irq, softirq, steal = ([int(x) for x in fields[1:9]] + [0] * 8)[:8]
        times[int(fields[0][3:])] = CpuTimes(user + nice + system + irq + softirq, steal, idle + iowait)
    return times


def load_between(before: dict[int, CpuTimes], after: dict[int, CpuTimes], cpus: Sequence[int]) -> Load | None:
    """How busy ``cpus`` were between two readings; None when no time has passed or nothing is told."""
    by_cpu = {}
    for cpu in cpus:
        if cpu not in before or cpu not in after:
            continue
        used, stolen, idle = (max(0, b - a) for a, b in zip(before[cpu], after[cpu], strict=True))
        total = used + stolen + idle
        if total:
            by_cpu[cpu] = (used + stolen) / total
    return Load(sum(by_cpu.values()), by_cpu) if by_cpu else None


def sample_load(
    cpus: Sequence[int],
    seconds: float = 0.25,
    root: Root = "/",
    sleep: Callable[[float], None] = time.sleep,
) -> Load | None:
    """Watch ``cpus`` for a while, which must be several clock ticks (0.01 s each) long."""
    before = read_cpu_times(root)
    sleep(seconds)
    return load_between(before, read_cpu_times(root), cpus)


def why_not_exclusive(load: Load | None, limit_cpus: float = BUSY_LIMIT_CPUS) -> str | None:
    """Why the CPUs cannot be had alone, as a sentence; None when they can."""
    if load is None:
        return "Whether other work runs on the chosen CPUs cannot be told: there is no /proc/stat."
    if load.busy_cpus <= limit_cpus:
        return None
    busy = sorted(load.by_cpu, key=lambda cpu: (-load.by_cpu[cpu], cpu))
    most = [cpu for cpu in busy if load.by_cpu[cpu] > limit_cpus] or busy[:1]
    return (
        f"Other work uses {load.busy_cpus:.2f} of the {len(load.by_cpu)} chosen CPUs, most on "
        f"{format_cpulist(most)}; with --exclusive at most {limit_cpus:g} is accepted. "
        "Wait until it ends (--wait-idle), or choose other CPUs: --cpus LIST."
    )
