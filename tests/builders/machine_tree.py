"""Build the part of sysfs and procfs that describes a machine, from a short description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from envdyno.agent.placement.cpulist import format_cpulist, format_mask, parse_cpulist

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
V1_UNLIMITED = "9223372036854771712"


def write(root: Path, path: str, text: str) -> None:
    """Write one file below the root, as the kernel does: with a newline."""
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n", encoding="utf-8")


@dataclass
class Machine:
    """A machine in few words. CPU sets are kernel lists; sizes are MiB."""

    nodes: Mapping[int, str] = field(default_factory=lambda: {0: "0-3"})
    """CPU list of each node."""
    memory: Mapping[int, int] = field(default_factory=dict)
    """Memory of each node; 1024 where it is not named."""
    free: Mapping[int, int] = field(default_factory=dict)
    cache: Mapping[int, int] = field(default_factory=dict)
    distances: Mapping[int, str] = field(default_factory=dict)
    online_nodes: str | None = None
    present: str | None = None
    online: str | None = None
    offline_file: str | None = None
    isolated: str = ""
    siblings: Sequence[str] = ()
    """Cores with more than one thread; other CPUs are cores of their own."""
    l3: Sequence[str] = ()
    capacity: Mapping[str, int] = field(default_factory=dict)
    """cpu_capacity by CPU list."""
    max_khz: Mapping[str, int] = field(default_factory=dict)
    allowed: str | None = None
    mems: str | None = None
    numa_balancing: int | None = 0
    gpus: Mapping[str, int] = field(default_factory=dict)
    """Node of each NVIDIA GPU by PCI address."""

    def cpus(self) -> tuple[int, ...]:
        """Online CPUs."""
        listed = self.online if self.online is not None else ",".join(self.nodes.values())
        return parse_cpulist(listed)

    def build(self, root: Path) -> Path:
        """Write the tree below ``root``."""
        self._cpus(root)
        self._nodes(root)
        self._caches(root)
        self._status(root)
        for address, node in self.gpus.items():
            add_gpu(root, address, node)
        if self.numa_balancing is not None:
            write(root, "proc/sys/kernel/numa_balancing", str(self.numa_balancing))
        return root

    def _cpus(self, root: Path) -> None:
        online = self.cpus()
        write(root, f"{CPU}/online", format_cpulist(online))
        write(root, f"{CPU}/present", self.present or format_cpulist(online))
        write(root, f"{CPU}/isolated", self.isolated)
        if self.offline_file is not None:
            write(root, f"{CPU}/offline", self.offline_file)
        core_of = {cpu: core for core in self.siblings for cpu in parse_cpulist(core)}
        for cpu in online:
            write(root, f"{CPU}/cpu{cpu}/topology/thread_siblings_list", core_of.get(cpu, str(cpu)))
        for values, name in ((self.capacity, "cpu_capacity"), (self.max_khz, "cpufreq/cpuinfo_max_freq")):
            for cpus, value in values.items():
                for cpu in parse_cpulist(cpus):
                    write(root, f"{CPU}/cpu{cpu}/{name}", str(value))

    def _nodes(self, root: Path) -> None:
        ids = sorted(self.nodes)
        sizes = {node: self.memory.get(node, 1024) for node in ids}
        write(root, f"{NODE}/online", self.online_nodes or format_cpulist(ids))
        write(root, f"{NODE}/has_memory", format_cpulist(node for node in ids if sizes[node]))
        for node in ids:
            folder = f"{NODE}/node{node}"
            write(root, f"{folder}/cpulist", self.nodes[node])
            write(root, f"{folder}/distance", self.distances.get(node) or self._default_distances(node, ids))
            lines = {
                "MemTotal": sizes[node],
                "MemFree": self.free.get(node, sizes[node]),
                "Inactive(file)": self.cache.get(node, 0),
            }
            text = "\n".join(f"Node {node} {key}: {value * 1024:10d} kB" for key, value in lines.items())
            write(root, f"{folder}/meminfo", text)

    @staticmethod
    def _default_distances(node: int, ids: Sequence[int]) -> str:
        return " ".join("10" if other == node else "21" for other in ids)

    def _caches(self, root: Path) -> None:
        for cpu in self.cpus() if self.l3 else ():
            folder = f"{CPU}/cpu{cpu}/cache"
            for index, level in enumerate((1, 1, 2)):
                write(root, f"{folder}/index{index}/level", str(level))
                write(root, f"{folder}/index{index}/shared_cpu_list", str(cpu))
        for domain in self.l3:
            for cpu in parse_cpulist(domain):
                write(root, f"{CPU}/cpu{cpu}/cache/index3/level", "3")
                write(root, f"{CPU}/cpu{cpu}/cache/index3/shared_cpu_list", domain)
                write(root, f"{CPU}/cpu{cpu}/cache/index3/size", "32768K")

    def _status(self, root: Path) -> None:
        allowed = self.allowed or format_cpulist(self.cpus())
        mems = self.mems or format_cpulist(node for node in self.nodes if self.memory.get(node, 1024))
        write(root, "proc/self/status", status(allowed, mems))


def status(cpus: str, mems: str) -> str:
    """Text of a status file with the lists and the wide masks beside them."""
    return "\n".join(
        (
            "Name:\tpython",
            f"Cpus_allowed:\t{format_mask(parse_cpulist(cpus))}",
            f"Cpus_allowed_list:\t{cpus}",
            f"Mems_allowed:\t{format_mask(parse_cpulist(mems), 1024)}",
            f"Mems_allowed_list:\t{mems}",
        )
    )


def add_gpu(
    root: Path,
    address: str,
    node: int,
    *,
    vendor: str = "0x10de",
    device: str = "0x20b0",
    kind: str = "0x030200",
    uuid: str | None = None,
) -> None:
    """One GPU on the PCI bus."""
    folder = f"sys/bus/pci/devices/{address}"
    write(root, f"{folder}/class", kind)
    write(root, f"{folder}/vendor", vendor)
    write(root, f"{folder}/device", device)
    write(root, f"{folder}/numa_node", str(node))
    if uuid is not None:
        text = f"Model: \t\t GPU\nIRQ:   \t\t 99\nGPU UUID: \t {uuid}\nBus Type: \t PCIe"
        write(root, f"proc/driver/nvidia/gpus/{address}/information", text)


def cgroup_v2(
    root: Path, member: str, files: Mapping[str, str], mount: str = "/sys/fs/cgroup", base: str = "/"
) -> None:
    """A version 2 hierarchy: the process is in ``member``; files are named from the mount point."""
    append(root, "proc/self/cgroup", f"0::{member}")
    append(root, "proc/self/mountinfo", f"30 24 0:26 {base} {mount} rw shared:4 - cgroup2 cgroup2 rw")
    for path, text in files.items():
        write(root, f"{mount}/{path}", text)


def cgroup_v1(root: Path, controllers: str, member: str, files: Mapping[str, str], base: str = "/") -> None:
    """A version 1 hierarchy for some controllers."""
    mount = f"/sys/fs/cgroup/{controllers}"
    append(root, "proc/self/cgroup", f"4:{controllers}:{member}")
    line = f"35 30 0:31 {base} {mount} rw,nosuid shared:9 - cgroup cgroup rw,{controllers}"
    append(root, "proc/self/mountinfo", line)
    for path, text in files.items():
        write(root, f"{mount}/{path}", text)


def append(root: Path, path: str, line: str) -> None:
    """Add a line to a file below the root."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(line + "\n")
