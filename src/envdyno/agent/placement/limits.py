"""What a process may use: affinity, cpuset, CPU quota, memory limit."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from envdyno.agent.placement import cgroups, kernelfs
from envdyno.agent.placement.cgroups import Group, Version
from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.syscalls import Kernel
from envdyno.agent.placement.wire import Wire

_V1_UNLIMITED_BYTES = 1 << 62
"""Version 1 writes "no limit" as the largest number of pages, in bytes."""


@dataclass(frozen=True)
class Limits(Wire):
    """What a process may use of its machine."""

    affinity: tuple[int, ...] | None
    """CPUs of the affinity mask; None where the system has no such thing (macOS)."""
    cpus_allowed: tuple[int, ...] | None
    """``Cpus_allowed_list``; may name CPUs that do not exist, so ``affinity`` decides."""
    mems_allowed: tuple[int, ...] | None
    """Nodes that memory may come from (``Mems_allowed_list``); None when the system does not tell."""
    quota_cpus: float | None
    """Tightest CPU quota of the control groups, in CPUs; None without one."""
    quota_source: str | None
    """File that the quota is from."""
    memory_limit_bytes: int | None
    """Tightest memory limit of the control groups; None without one."""
    memory_limit_source: str | None
    """File that the memory limit is from."""
    effective_cpus: int
    """CPUs' worth of time that can be used: the affinity's count, cut to the quota rounded up."""
    raw: dict[str, str]
    """Text of every file that was read, by path."""

    @property
    def quota_is_tight(self) -> bool:
        """Whether the quota gives less than the CPUs of the mask."""
        return (
            self.quota_cpus is not None and self.affinity is not None and self.quota_cpus < len(self.affinity)
        )


def read_limits(root: Root = "/", pid: int | str = "self", kernel: Kernel | None = None) -> Limits:
    """Read the limits of a process.

    Args:
        root: Root of the file system.
        pid: The process; the calling one by default.
        kernel: The system calls. By default the affinity comes from this machine's kernel when ``root`` is
            that of this machine, and from ``Cpus_allowed_list`` in any other tree.
    """
    raw: dict[str, str] = {}
    status = _read_status(root, pid, raw)
    cpus_allowed = _list_of(status.get("Cpus_allowed_list"))
    affinity = _affinity(root, pid, cpus_allowed, kernel)
    quota, quota_source = _tightest(root, pid, raw, "cpu")
    memory, memory_source = _tightest(root, pid, raw, "memory")
    _read_cpusets(root, pid, raw)
    usable = len(affinity) if affinity is not None else os.cpu_count() or 1
    return Limits(
        affinity=affinity,
        cpus_allowed=cpus_allowed,
        mems_allowed=_list_of(status.get("Mems_allowed_list")),
        quota_cpus=quota,
        quota_source=quota_source,
        memory_limit_bytes=None if memory is None else int(memory),
        memory_limit_source=memory_source,
        effective_cpus=usable if quota is None else max(1, min(usable, math.ceil(quota))),
        raw=raw,
    )


def _read_status(root: Root, pid: int | str, raw: dict[str, str]) -> dict[str, str]:
    """The two lists in a process's status. The lists, for the masks are as wide as the kernel's maximum."""
    found = {}
    for line in (kernelfs.read_text(root, f"/proc/{pid}/status") or "").splitlines():
        key, _, value = line.partition(":")
        if key in ("Cpus_allowed_list", "Mems_allowed_list"):
            found[key] = value.strip()
            raw[f"/proc/{pid}/status {key}"] = value.strip()
    return found


def _list_of(text: str | None) -> tuple[int, ...] | None:
    try:
        return None if text is None else parse_cpulist(text)
    except PlacementError:
        return None


def _affinity(
    root: Root, pid: int | str, cpus_allowed: tuple[int, ...] | None, kernel: Kernel | None
) -> tuple[int, ...] | None:
    if kernel is None and not kernelfs.is_live(root):
        online = kernelfs.read_list(root, "/sys/devices/system/cpu/online")
        if cpus_allowed is None or online is None:
            return cpus_allowed
        return tuple(cpu for cpu in cpus_allowed if cpu in online)
    try:
        return (kernel or Kernel()).get_affinity(0 if pid == "self" else int(pid))
    except OSError:
        return cpus_allowed


def _tightest(
    root: Root, pid: int | str, raw: dict[str, str], controller: str
) -> tuple[float | None, str | None]:
    """The smallest limit of a controller over all levels, and the file it is from."""
    read = {"cpu": _quota, "memory": _memory}[controller]
    best: tuple[float | None, str | None] = (None, None)
    for group in cgroups.groups(root, pid, controller):
        value, source = read(root, group, raw)
        if value is not None and (best[0] is None or value < best[0]):
            best = (value, source)
    return best


def _quota(root: Root, group: Group, raw: dict[str, str]) -> tuple[float | None, str]:
    """CPUs of a group's quota. Version 2: ``cpu.max`` is ``QUOTA PERIOD`` or ``max PERIOD``."""
    if group.version is Version.V2:
        path = f"{group.folder}/cpu.max"
        fields = _kept(root, path, raw).split()
        quota = _positive(fields[0]) if fields else None
        period = _positive(fields[1]) if len(fields) > 1 else 100_000
    else:
        path = f"{group.folder}/cpu.cfs_quota_us"
        quota = _positive(_kept(root, path, raw))  # -1 is no quota
        period = _positive(_kept(root, f"{group.folder}/cpu.cfs_period_us", raw))
    return (quota / period if quota and period else None), path


def _memory(root: Root, group: Group, raw: dict[str, str]) -> tuple[float | None, str]:
    """Bytes of a group's memory limit; ``max`` (version 2) and a huge number (version 1) are none."""
    name = "memory.max" if group.version is Version.V2 else "memory.limit_in_bytes"
    path = f"{group.folder}/{name}"
    value = _positive(_kept(root, path, raw))
    return (value if value is not None and value < _V1_UNLIMITED_BYTES else None), path


def _read_cpusets(root: Root, pid: int | str, raw: dict[str, str]) -> None:
    """Keep what the innermost cpuset says, for the record; the status lists are what holds."""
    seen: set[Version] = set()
    for group in cgroups.groups(root, pid, "cpuset"):
        if group.version not in seen:
            seen.add(group.version)
            v2 = group.version is Version.V2
            for kind in ("cpus", "mems"):
                name = f"cpuset.{kind}.effective" if v2 else f"cpuset.effective_{kind}"
                _kept(root, f"{group.folder}/{name}", raw)


def _kept(root: Root, path: str, raw: dict[str, str]) -> str:
    """Text of a file, kept in ``raw``; empty when there is none."""
    text = kernelfs.read_text(root, path)
    if text is not None:
        raw[path] = text
    return text or ""


def _positive(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None
