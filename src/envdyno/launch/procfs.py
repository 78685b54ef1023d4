"""Accounting of processes and of the machine, read from procfs through psutil where it is portable."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

# Zero-based positions after the command name in /proc/PID/stat, see proc_pid_stat(5).
MINOR_FAULTS, CHILD_MINOR_FAULTS, MAJOR_FAULTS, CHILD_MAJOR_FAULTS = 7, 8, 9, 10


@dataclass(frozen=True)
class TreeUse:
    """Totals of a set of process trees since they began."""

    cpu_s: float
    """User and system time of all living processes and of the children they have waited for."""
    rss_bytes: int
    minor_faults: int | None
    major_faults: int | None
    voluntary_switches: int
    involuntary_switches: int
    processes: int


def tree_use(roots: Iterable[int]) -> TreeUse:
    """Return what the process trees under ``roots`` have used.

    The difference of two reads is what was used in between, also by processes that were born or ended
    meanwhile: a process that ended has left its time with the parent that waited for it.
    """
    cpu_s = 0.0
    rss = voluntary = involuntary = count = 0
    faults = [0, 0]
    known = True
    for process in _tree(roots):
        with contextlib.suppress(psutil.Error), process.oneshot():
            times = process.cpu_times()
            cpu_s += times.user + times.system + times.children_user + times.children_system
            rss += process.memory_info().rss
            switches = process.num_ctx_switches()
            voluntary += switches.voluntary
            involuntary += switches.involuntary
            count += 1
        found = _faults(process.pid)
        known = known and found is not None
        if found is not None:
            faults = [faults[0] + found[0], faults[1] + found[1]]
    minor, major = faults if known else (None, None)
    return TreeUse(cpu_s, rss, minor, major, voluntary, involuntary, count)


def _tree(roots: Iterable[int]) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for root in roots:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(root)
            found += [process, *process.children(recursive=True)]
    return found


def _faults(pid: int) -> tuple[int, int] | None:
    """Return minor and major faults of a process and its collected children; ``None`` without procfs."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return (
        int(fields[MINOR_FAULTS]) + int(fields[CHILD_MINOR_FAULTS]),
        int(fields[MAJOR_FAULTS]) + int(fields[CHILD_MAJOR_FAULTS]),
    )


@dataclass(frozen=True)
class MachineUse:
    """Busy and stolen CPU time of every CPU since boot, in seconds."""

    busy_s: dict[int, float]
    steal_s: dict[int, float] | None
    """Time that the hypervisor gave to others; ``None`` where the kernel does not tell."""

    def busy_on(self, cpus: Iterable[int]) -> float:
        """Return the busy seconds on some of the CPUs."""
        return sum(self.busy_s.get(cpu, 0.0) for cpu in cpus)


def machine_use() -> MachineUse:
    """Return the CPU time that the kernel has accounted so far, guests included, idle and steal not.

    psutil numbers CPUs in the order of /proc/stat, which leaves out those that are offline.
    """
    ids = online_cpu_ids()
    busy: dict[int, float] = {}
    steal: dict[int, float] | None = {}
    for position, times in enumerate(psutil.cpu_times(percpu=True)):
        cpu = ids[position] if position < len(ids) else position
        used = times.user + times.nice + times.system
        busy[cpu] = used + getattr(times, "irq", 0.0) + getattr(times, "softirq", 0.0)
        if steal is not None and hasattr(times, "steal"):
            steal[cpu] = times.steal
        else:
            steal = None
    return MachineUse(busy, steal)


def online_cpu_ids(stat: Path = Path("/proc/stat")) -> list[int]:
    """Return the ids of the CPUs that /proc/stat lists, in its order."""
    try:
        lines = stat.read_text(encoding="ascii").splitlines()
    except OSError:
        return list(range(os.cpu_count() or 1))
    return [int(line.split()[0][3:]) for line in lines if line.startswith("cpu") and line[3].isdigit()]


def pressure_us(resource: str, root: Path = Path("/proc/pressure")) -> int | None:
    """Return the total stall time of ``cpu``, ``memory`` or ``io`` in µs (PSI, "some"), or ``None``.

    Source: Documentation/accounting/psi.rst of the kernel.
    """
    try:
        first = (root / resource).read_text(encoding="ascii").splitlines()[0]
        return int(first.rpartition("total=")[2])
    except (OSError, ValueError, IndexError):
        return None


def throttled_us(
    cgroup_root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> int | None:
    """Return how long the CPU quota has throttled this process's cgroup, in µs, or ``None``.

    Reads ``throttled_usec`` of cgroup v2, or ``throttled_time`` (ns) of the v1 CPU controller.
    """
    for folder, key, divisor in _throttle_sources(cgroup_root, own):
        try:
            lines = (folder / "cpu.stat").read_text(encoding="ascii").splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(" ")
            if name == key:
                return int(value) // divisor
    return None


def _throttle_sources(root: Path, own: Path) -> list[tuple[Path, str, int]]:
    try:
        lines = own.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    sources = []
    for line in lines:
        _hierarchy, controllers, path = line.split(":", 2)
        if not controllers:
            sources.append((root / path.lstrip("/"), "throttled_usec", 1))
        elif "cpu" in controllers.split(","):
            sources.append((root / controllers / path.lstrip("/"), "throttled_time", 1000))
            sources.append((root / "cpu" / path.lstrip("/"), "throttled_time", 1000))
    return sources
