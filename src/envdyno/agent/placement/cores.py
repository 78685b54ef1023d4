"""Cores: which CPUs are threads of one core, and which cores are fast or slow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.wire import Wire

_CPU = "/sys/devices/system/cpu/cpu{}"
_SAME_CLASS = 0.9
"""Cores of one class differ by a few per cent at most (the favoured cores of one die boost 2-7 % higher);
classes differ by a quarter and more."""


@dataclass(frozen=True)
class CoreClass(Wire):
    """CPUs of one kind on a machine that mixes kinds (performance and efficiency, big and LITTLE)."""

    name: str
    """``performance``, ``efficiency``, and ``middle`` where there are three; ``class0`` ... beyond."""
    cpus: tuple[int, ...]
    capacity: int | None
    """Highest ``cpu_capacity`` in the class, 1024 being the fastest CPU of the machine."""
    max_frequency_khz: int | None
    """Highest ``cpuinfo_max_freq`` in the class."""


def read_siblings(root: Root, online: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """CPUs grouped by core, each group ascending; a CPU whose core is not told stands alone."""
    seen: set[int] = set()
    cores = []
    for cpu in online:
        if cpu in seen:
            continue
        group = _core_of(root, cpu)
        core = tuple(item for item in group if item in online and item not in seen) if group else (cpu,)
        if cpu not in core:
            core = (cpu,)
        seen.update(core)
        cores.append(core)
    return tuple(cores)


def read_core_classes(root: Root, online: tuple[int, ...]) -> tuple[CoreClass, ...]:
    """The kinds of cores, fastest first; empty when all are of one kind or the kernel does not tell."""
    capacities = _read_each(root, online, "cpu_capacity")
    frequencies = _read_each(root, online, "cpufreq/cpuinfo_max_freq")
    groups = _hybrid_groups(root, online) or _speed_groups(capacities) or _speed_groups(frequencies)
    if len(groups) < 2:
        return ()
    named = zip(_class_names(len(groups)), groups, strict=True)
    return tuple(
        CoreClass(name, cpus, _highest(capacities, cpus), _highest(frequencies, cpus)) for name, cpus in named
    )


def _core_of(root: Root, cpu: int) -> tuple[int, ...] | None:
    """Threads of a CPU's core. ``core_cpus_list`` is the name since Linux 5.3."""
    folder = _CPU.format(cpu) + "/topology"
    newer = kernelfs.read_list(root, f"{folder}/core_cpus_list")
    return newer or kernelfs.read_list(root, f"{folder}/thread_siblings_list")


def _read_each(root: Root, online: tuple[int, ...], attribute: str) -> dict[int, int]:
    """A number of each CPU; empty unless every CPU tells, for a comparison needs all."""
    values = {}
    for cpu in online:
        value = kernelfs.read_int(root, f"{_CPU.format(cpu)}/{attribute}")
        if value is None or value <= 0:
            return {}
        values[cpu] = value
    return values


def _hybrid_groups(root: Root, online: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Groups that the kernel names itself on Intel hybrid processors, by their counters."""
    groups = []
    for unit in ("cpu_core", "cpu_atom", "cpu_lowpower"):
        cpus = kernelfs.read_list(root, f"/sys/devices/{unit}/cpus") or ()
        members = tuple(cpu for cpu in cpus if cpu in online)
        if members:
            groups.append(members)
    whole = sorted(cpu for group in groups for cpu in group)
    return groups if whole == list(online) else []


def _speed_groups(speeds: dict[int, int]) -> list[tuple[int, ...]]:
    """CPUs grouped by speed, fastest first; a new group begins at a gap of more than a tenth."""
    groups: list[list[int]] = []
    last = None
    for cpu in sorted(speeds, key=lambda item: (-speeds[item], item)):
        if last is None or speeds[cpu] < last * _SAME_CLASS:
            groups.append([])
        groups[-1].append(cpu)
        last = speeds[cpu]
    return [tuple(sorted(group)) for group in groups] if len(groups) > 1 else []


def _class_names(count: int) -> tuple[str, ...]:
    names = {2: ("performance", "efficiency"), 3: ("performance", "middle", "efficiency")}
    return names.get(count) or tuple(f"class{index}" for index in range(count))


def _highest(values: dict[int, int], cpus: Iterable[int]) -> int | None:
    return max((values[cpu] for cpu in cpus if cpu in values), default=None)
