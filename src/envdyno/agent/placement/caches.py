"""Level-3 caches and the CPUs that share each (one per core complex on AMD processors)."""

from __future__ import annotations

from dataclasses import dataclass

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.wire import Wire

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class CacheDomain(Wire):
    """CPUs that share one level-3 cache."""

    cpus: tuple[int, ...]
    size_bytes: int | None


def read_l3_domains(root: Root, online: tuple[int, ...]) -> tuple[CacheDomain, ...]:
    """The level-3 caches by their lowest CPU; empty when the kernel shows none."""
    seen: set[int] = set()
    domains = []
    for cpu in online:
        if cpu in seen:
            continue
        folder = _l3_folder(root, cpu)
        shared = kernelfs.read_list(root, f"{folder}/shared_cpu_list") if folder else None
        cpus = tuple(item for item in shared or () if item in online and item not in seen)
        if folder and cpu in cpus:
            domains.append(CacheDomain(cpus, _size(kernelfs.read_text(root, f"{folder}/size"))))
            seen.update(cpus)
    return tuple(domains)


def _l3_folder(root: Root, cpu: int) -> str | None:
    """Folder of a CPU's level-3 cache. Index numbers are no levels: index 0 and 1 are both level 1."""
    cache = f"/sys/devices/system/cpu/cpu{cpu}/cache"
    for index in reversed(kernelfs.numbered(root, cache, "index")):
        if kernelfs.read_int(root, f"{cache}/index{index}/level") == 3:
            return f"{cache}/index{index}"
    return None


def _size(text: str | None) -> int | None:
    """Bytes of a size such as ``32768K``."""
    if not text or not text.rstrip("KMG").isdigit():
        return None
    return int(text.rstrip("KMG")) * _UNITS.get(text[-1], 1)
