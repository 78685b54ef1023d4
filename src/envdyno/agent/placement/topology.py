"""The machine: nodes, CPUs, cores, caches and GPUs, from sysfs under a root that can be replaced."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.caches import CacheDomain, read_l3_domains
from envdyno.agent.placement.cores import CoreClass, read_core_classes, read_siblings
from envdyno.agent.placement.gpus import Gpu, read_gpus
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.nodes import Node, read_nodes
from envdyno.agent.placement.wire import Wire

_CPU = "/sys/devices/system/cpu"


class Synthetic(str, Enum):
    """Whether the nodes are the kernel's, or one that stands for the whole machine."""

    NO = "no"
    YES = "yes"

    def __bool__(self) -> bool:
        return self is Synthetic.YES


@dataclass(frozen=True)
class Topology(Wire):
    """What a machine is made of. Ids are the kernel's; none is assumed to be contiguous."""

    nodes: tuple[Node, ...]
    """Online nodes, ascending by id."""
    cpus: tuple[int, ...]
    """Online CPUs."""
    offline: tuple[int, ...]
    """CPUs that are there but switched off."""
    isolated: tuple[int, ...]
    """CPUs that the kernel keeps free of ordinary work (``isolcpus=``)."""
    siblings: tuple[tuple[int, ...], ...]
    """Online CPUs grouped by core."""
    core_classes: tuple[CoreClass, ...]
    """Kinds of cores, fastest first; empty when there is one kind."""
    l3_domains: tuple[CacheDomain, ...]
    """Level-3 caches; empty when the kernel shows none."""
    gpus: tuple[Gpu, ...]
    """GPUs in the order of their PCI addresses."""
    synthetic: Synthetic
    """YES when the system shows no nodes, and node 0 stands for the whole machine."""
    synthetic_reason: str | None
    numa_balancing: int | None
    """``/proc/sys/kernel/numa_balancing``: not 0 when the kernel moves unbound pages between nodes."""
    problems: tuple[str, ...]
    """What was not as it should be, in sentences."""

    def node(self, node: int) -> Node | None:
        """The node with an id, or None."""
        return next((item for item in self.nodes if item.id == node), None)


def read_topology(root: Root = "/") -> Topology:
    """Read the machine below ``root``. Nothing that is missing or malformed raises: it is in ``problems``."""
    problems: list[str] = []
    cpus = _online_cpus(root, problems)
    nodes = read_nodes(root, cpus, problems)
    synthetic, reason = Synthetic.NO, None
    if not any(node.cpus for node in nodes):
        synthetic = Synthetic.YES
        reason = "The system shows no NUMA node with CPUs: node 0 stands for the whole machine."
        nodes = (_whole_machine(root, cpus),)
    present = kernelfs.read_list(root, f"{_CPU}/present", problems) or cpus
    return Topology(
        nodes=nodes,
        cpus=cpus,
        # `present` minus `online`, for the file `offline` also lists CPUs that do not exist.
        offline=tuple(cpu for cpu in present if cpu not in set(cpus)),
        isolated=kernelfs.read_list(root, f"{_CPU}/isolated", problems) or (),
        siblings=read_siblings(root, cpus),
        core_classes=read_core_classes(root, cpus),
        l3_domains=read_l3_domains(root, cpus),
        gpus=read_gpus(root),
        synthetic=synthetic,
        synthetic_reason=reason,
        numa_balancing=kernelfs.read_int(root, "/proc/sys/kernel/numa_balancing"),
        problems=tuple(problems),
    )


def _online_cpus(root: Root, problems: list[str]) -> tuple[int, ...]:
    """CPUs that are online, from the first place that tells: sandboxes leave out different ones."""
    online = kernelfs.read_list(root, f"{_CPU}/online", problems)
    if online:
        return online
    folders = kernelfs.numbered(root, _CPU, "cpu")
    if folders:
        return tuple(cpu for cpu in folders if kernelfs.read_int(root, f"{_CPU}/cpu{cpu}/online") != 0)
    lines = (kernelfs.read_text(root, "/proc/stat") or "").splitlines()
    labels = (line.split()[0] for line in lines if line.startswith("cpu"))
    counted = tuple(sorted(int(label[3:]) for label in labels if label[3:].isdigit()))
    return counted or tuple(range(os.cpu_count() or 1))


def _whole_machine(root: Root, cpus: tuple[int, ...]) -> Node:
    """One node for a system that shows none."""
    amounts: dict[str, int] = {}
    for line in (kernelfs.read_text(root, "/proc/meminfo") or "").splitlines():
        label, _, value = line.partition(":")
        if value.split() and value.split()[0].isdigit():
            amounts[label] = int(value.split()[0]) * 1024
    free, available = amounts.get("MemFree"), amounts.get("MemAvailable")
    reclaimable = max(0, available - free) if available is not None and free is not None else None
    return Node(0, cpus, amounts.get("MemTotal"), free, reclaimable, {0: 10})
