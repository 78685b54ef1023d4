"""Accounting of processes and of the machine, read from procfs through psutil where it is portable."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from envdyno.agent.placement import cgroups, kernelfs
from envdyno.agent.placement.cgroups import Version

# Zero-based positions after the command name in /proc/PID/stat, see proc_pid_stat(5).
PARENT, MINOR_FAULTS, CHILD_MINOR_FAULTS, MAJOR_FAULTS, CHILD_MAJOR_FAULTS = 1, 7, 8, 9, 10


@dataclass(frozen=True)
class TreeUse:
    """Totals of a process tree since it began."""

    cpu_s: float
    """User and system time of all living processes and of the children they have waited for."""
    rss_bytes: int
    minor_faults: int | None
    major_faults: int | None
    voluntary_switches: int
    """Of all threads that are alive; as of the next."""
    involuntary_switches: int
    processes: int


def tree_uses(roots: Sequence[int], proc: Path = Path("/proc")) -> tuple[TreeUse, ...]:
    """Return what the process tree under each of ``roots`` has used.

    The difference of two reads is what was used in between, also by processes that were born or ended
    meanwhile: a process that ended has left its time with the parent that waited for it. All processes of the
    machine are looked at once, however many roots there are.
    """
    children = _children_of_all(proc)
    return tuple(_use([root, *_descendants(root, children)], proc) for root in roots)


def _children_of_all(proc: Path) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for pid in psutil.pids():
        fields = _stat_fields(pid, proc)
        with contextlib.suppress(psutil.Error):
            parent = int(fields[PARENT]) if fields is not None else psutil.Process(pid).ppid()
            children.setdefault(parent, []).append(pid)
    return children


def _descendants(root: int, children: Mapping[int, Sequence[int]]) -> list[int]:
    found: list[int] = []
    pending = [root]
    while pending:
        born = children.get(pending.pop(), ())
        found += born
        pending += born
    return found


def _use(pids: Iterable[int], proc: Path) -> TreeUse:
    cpu_s = 0.0
    rss = voluntary = involuntary = count = 0
    faults: list[tuple[int, int] | None] = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            with process.oneshot():
                times, memory = process.cpu_times(), process.memory_info()
                switches = _switches(process, proc)
            cpu_s += times.user + times.system + times.children_user + times.children_system
            rss += memory.rss
            voluntary += switches[0]
            involuntary += switches[1]
            faults.append(_faults(pid, proc))
            count += 1
    known = [pair for pair in faults if pair is not None]
    minor, major = (sum(part) for part in zip(*known, strict=True)) if known else (None, None)
    return TreeUse(cpu_s, rss, minor, major, voluntary, involuntary, count)


def _stat_fields(pid: int, proc: Path) -> list[str] | None:
    """Return the fields of /proc/PID/stat after the command name; ``None`` without procfs or process."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    # The command name may hold anything, also blanks and brackets.
    return text.rpartition(")")[2].split() or None


def _switches(process: psutil.Process, proc: Path) -> tuple[int, int]:
    """Return voluntary and involuntary context switches of all threads.

    The status of a process tells of its main thread alone (proc_pid_status(5)), and it is the threads of
    pools that are switched.
    """
    totals = {"voluntary_ctxt_switches": 0, "nonvoluntary_ctxt_switches": 0}
    statuses = list((proc / str(process.pid) / "task").glob("[0-9]*/status"))
    for status in statuses:
        with contextlib.suppress(OSError):
            for line in status.read_text(encoding="ascii", errors="replace").splitlines():
                name, _, value = line.partition(":")
                if name in totals:
                    totals[name] += int(value)
    if not statuses:
        whole = process.num_ctx_switches()
        return whole.voluntary, whole.involuntary
    return totals["voluntary_ctxt_switches"], totals["nonvoluntary_ctxt_switches"]


def _faults(pid: int, proc: Path) -> tuple[int, int] | None:
    """Return minor and major faults of a process and its collected children; ``None`` without procfs."""
    fields = _stat_fields(pid, proc)
    if fields is None:
        return None
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

    def stolen_since(self, earlier: MachineUse) -> float | None:
        """Return the seconds stolen since then over all CPUs; ``None`` where the kernel does not tell."""
        if self.steal_s is None or earlier.steal_s is None:
            return None
        return sum(self.steal_s.values()) - sum(earlier.steal_s.values())


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


def throttled_us(root: str = "/") -> int | None:
    """Return how long CPU quotas have held this process's control groups back, in µs, or ``None``.

    Every level counts that has a quota, for a group is stopped by its ancestors' quotas too. The kernel adds
    up the time over the CPUs on which the group was stopped. Reads ``throttled_usec`` of version 2, or
    ``throttled_time`` (ns) of version 1's CPU controller.
    """
    found: list[int] = []
    for group in cgroups.groups(root, "self", "cpu"):
        key, divisor = ("throttled_usec", 1) if group.version is Version.V2 else ("throttled_time", 1000)
        for line in (kernelfs.read_text(root, f"{group.folder}/cpu.stat") or "").splitlines():
            name, _, value = line.partition(" ")
            if name == key and value.strip().isdigit():
                found.append(int(value) // divisor)
    return sum(found) if found else None
