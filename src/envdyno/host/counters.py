"""What was used while the window was open, sampled by the control.

Sampled from outside, since engines hold the interpreter lock while they step. The difference of two
samples is a :class:`Use`; the time between the samples is kept with it, for a late wake-up of the control
makes it a little longer than the window.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from envdyno.host.procfs import (
    MachineUse,
    TreeUse,
    machine_use,
    pressure_us,
    throttled_us,
    tree_uses,
)


@dataclass(frozen=True)
class Sample:
    """One reading of everything."""

    at_s: float
    workers: tuple[TreeUse, ...]
    machine: MachineUse
    control_cpu_s: float
    pressure_us: dict[str, int | None]
    throttled_us: int | None


class Edge(Enum):
    """Which edge of a window a sample is taken at: sampling itself belongs outside the window."""

    START = "start"
    END = "end"


def sample(worker_pids: Sequence[int], edge: Edge) -> Sample:
    """Read the process trees of the workers, the machine and this process."""
    workers = tree_uses(worker_pids) if edge is Edge.START else None
    usage = resource.getrusage(resource.RUSAGE_SELF)
    machine = machine_use()
    return Sample(
        at_s=time.monotonic(),
        workers=tree_uses(worker_pids) if workers is None else workers,
        machine=machine,
        control_cpu_s=usage.ru_utime + usage.ru_stime,
        pressure_us={name: pressure_us(name) for name in ("cpu", "memory", "io")},
        throttled_us=throttled_us(),
    )


@dataclass(frozen=True)
class WorkerUse:
    """What one worker's process tree used between two samples. ``None`` is not known, never zero."""

    cpu_s: float
    rss_bytes: int
    minor_faults: int | None
    major_faults: int | None
    voluntary_switches: int
    involuntary_switches: int
    processes: int


@dataclass(frozen=True)
class Use:
    """What was used between two samples, in seconds of CPU time and in cores (seconds a second)."""

    elapsed_s: float
    workers: tuple[WorkerUse, ...]
    cpu_s: float
    """CPU time of all workers' process trees."""
    control_cpu_s: float
    machine_busy_s: float
    chosen_busy_s: float
    """Busy time of the CPUs that the workers may use."""
    foreign_cores_machine: float
    """What everything but the workers and the control used on the whole machine."""
    foreign_cores_chosen: float
    """The same on the chosen CPUs."""
    steal_s: float | None
    pressure_us: dict[str, int | None]
    throttled_us: int | None


def use_between(before: Sample, after: Sample, chosen: Iterable[int], *, control_apart: bool = False) -> Use:
    """Return what was used between two samples.

    Foreign load is what the kernel accounted as busy, less the workers and the control. Accounting is by
    clock ticks, so it may come out slightly below zero; it is kept as it is.
    """
    elapsed = after.at_s - before.at_s
    workers = tuple(_worker_use(*pair) for pair in zip(before.workers, after.workers, strict=True))
    cpu_s = sum(worker.cpu_s for worker in workers)
    control = after.control_cpu_s - before.control_cpu_s
    cpus = sorted(after.machine.busy_s)
    chosen = sorted(set(chosen))
    machine_busy = after.machine.busy_on(cpus) - before.machine.busy_on(cpus)
    chosen_busy = after.machine.busy_on(chosen) - before.machine.busy_on(chosen)
    # Where the control is not bound, it is counted as far as the chosen CPUs are the whole machine.
    control_on_chosen = 0.0 if control_apart else control * len(chosen) / max(1, len(cpus))
    return Use(
        elapsed_s=elapsed,
        workers=workers,
        cpu_s=cpu_s,
        control_cpu_s=control,
        machine_busy_s=machine_busy,
        chosen_busy_s=chosen_busy,
        foreign_cores_machine=(machine_busy - cpu_s - control) / elapsed,
        foreign_cores_chosen=(chosen_busy - cpu_s - control_on_chosen) / elapsed,
        steal_s=after.machine.stolen_since(before.machine),
        pressure_us={
            name: _less(value, before.pressure_us[name]) for name, value in after.pressure_us.items()
        },
        throttled_us=_less(after.throttled_us, before.throttled_us),
    )


def _worker_use(before: TreeUse, after: TreeUse) -> WorkerUse:
    return WorkerUse(
        cpu_s=after.cpu_s - before.cpu_s,
        rss_bytes=after.rss_bytes,
        minor_faults=_less(after.minor_faults, before.minor_faults),
        major_faults=_less(after.major_faults, before.major_faults),
        voluntary_switches=after.voluntary_switches - before.voluntary_switches,
        involuntary_switches=after.involuntary_switches - before.involuntary_switches,
        processes=after.processes,
    )


def _less(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before
