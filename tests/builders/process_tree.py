"""Build the part of procfs that describes one process, from a short description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from machine_tree import write

PID = 4242
TICKS_PER_S = 100
_MIB = 1 << 20


@dataclass
class Task:
    """One thread."""

    cpus: str
    name: str = "python"
    ran_s: float | None = 0.5
    waited_s: float | None = 0.0
    start_s: float = 100.0


def build_process(
    root: Path, tasks: Sequence[Task], numa_maps: str | None = None, at_s: float = 200.0
) -> Path:
    """Write a process with these threads; the first is the main one, the others have the ids after it."""
    for index, task in enumerate(tasks):
        tid = PID + index
        folder = f"proc/{PID}/task/{tid}"
        write(root, f"{folder}/comm", task.name)
        write(root, f"{folder}/status", f"Name:\t{task.name}\nCpus_allowed_list:\t{task.cpus}")
        ticks = int((task.ran_s or 0.0) * TICKS_PER_S)
        # The name may hold blanks and brackets; fields 3 to 22 follow it.
        fields = ["S", *["0"] * 10, str(ticks), "0", *["0"] * 6, str(int(task.start_s * TICKS_PER_S))]
        write(root, f"{folder}/stat", f"{tid} ({task.name} (x) y) {' '.join(fields)}")
        if task.ran_s is not None and task.waited_s is not None:
            write(root, f"{folder}/schedstat", f"{int(task.ran_s * 1e9)} {int(task.waited_s * 1e9)} 7")
    if numa_maps is not None:
        write(root, f"proc/{PID}/numa_maps", numa_maps)
    write(root, "proc/uptime", f"{at_s} 100.0")
    return root


def anonymous(policy: str, **mib: int) -> str:
    """A line of numa_maps for private memory; ``N1=30`` puts 30 MiB on node 1."""
    counts = " ".join(f"{node}={size * _MIB // 4096}" for node, size in mib.items())
    return f"7efe54711000 {policy} anon=1 dirty=1 {counts} kernelpagesize_kB=4"
