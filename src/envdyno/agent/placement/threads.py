"""The threads of a process: where each may run, how much it ran, how long it waited for a CPU."""

from __future__ import annotations

import os
from dataclasses import dataclass

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.syscalls import Kernel
from envdyno.agent.placement.wire import Wire

_NS = 1e-9
_FALLBACK_TICKS_PER_S = 100


@dataclass(frozen=True)
class Thread(Wire):
    """One thread, as it was when it was looked at."""

    tid: int
    name: str
    cpus: tuple[int, ...] | None
    """Its affinity; None when it cannot be read."""
    cpu_time_s: float | None
    """CPU time since it started."""
    wait_time_s: float | None
    """Time that it was ready to run and had no CPU, since it started (``schedstat``)."""
    start_s: float | None
    """When it started, in seconds since boot, to a hundredth."""


def read_threads(root: Root, pid: int | str, kernel: Kernel | None) -> tuple[Thread, ...]:
    """All threads of a process, by their ids. Threads that end while they are read are left out.

    Args:
        root: Root of the file system.
        pid: The process, or ``self``.
        kernel: Tells the affinities; None to take them from ``status``, in a tree that is no live system.
    """
    threads = []
    for tid in kernelfs.numbered(root, f"/proc/{pid}/task", ""):
        folder = f"/proc/{pid}/task/{tid}"
        name = kernelfs.read_text(root, f"{folder}/comm")
        if name is None:
            continue
        cpu_time, start = _read_stat(root, folder)
        own_time, wait_time = _read_schedstat(root, folder)
        threads.append(
            Thread(
                tid=tid,
                name=name,
                cpus=_read_cpus(root, folder, tid, kernel),
                cpu_time_s=cpu_time if own_time is None else own_time,
                wait_time_s=wait_time,
                start_s=start,
            )
        )
    return tuple(threads)


def _read_cpus(root: Root, folder: str, tid: int, kernel: Kernel | None) -> tuple[int, ...] | None:
    """Affinity by system call, else ``Cpus_allowed_list``, which may name CPUs that do not exist."""
    if kernel is not None:
        try:
            return kernel.get_affinity(tid)
        except OSError:
            pass
    for line in (kernelfs.read_text(root, f"{folder}/status") or "").splitlines():
        if line.startswith("Cpus_allowed_list:"):
            try:
                return parse_cpulist(line.partition(":")[2])
            except PlacementError:
                return None
    return None


def _read_stat(root: Root, folder: str) -> tuple[float | None, float | None]:
    """CPU time and start from ``stat``; the name in it may hold blanks and brackets."""
    fields = (kernelfs.read_text(root, f"{folder}/stat") or "").rpartition(")")[2].split()
    if len(fields) < 20:
        return None, None
    ticks = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else _FALLBACK_TICKS_PER_S
    # Fields 14, 15 and 22 of `man 5 proc_pid_stat`; two went with the name.
    return (int(fields[11]) + int(fields[12])) / ticks, int(fields[19]) / ticks


def _read_schedstat(root: Root, folder: str) -> tuple[float | None, float | None]:
    """Time on a CPU and time waiting for one (Documentation/scheduler/sched-stats.rst)."""
    fields = (kernelfs.read_text(root, f"{folder}/schedstat") or "").split()
    if len(fields) < 2 or not (fields[0].isdigit() and fields[1].isdigit()):
        return None, None
    return int(fields[0]) * _NS, int(fields[1]) * _NS
