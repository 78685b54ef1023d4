"""The control's own CPUs while workers are measured: none of theirs, where there are others.

The control sleeps through a window, and still it wakes to sample and to show progress. Where the workers
leave CPUs free, it does so there; and where it can, not on the other thread of a core that a worker runs on
(Linux kernel documentation, ``ABI/stable/sysfs-devices-system-cpu``, "thread_siblings_list"). Its own
affinity is put back afterwards. Where the workers have every CPU, nothing is changed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

OWN_THREADS = Path("/proc/self/task")


def free_cpus(
    allowed: Collection[int], workers: Collection[int], siblings: Iterable[Sequence[int]]
) -> tuple[int, ...]:
    """Return the allowed CPUs that no worker uses, those on cores without a worker if there are any.

    Args:
        allowed: CPUs that this process may use.
        workers: CPUs that any worker may use.
        siblings: threads of each core.
    """
    shared = {cpu for core in siblings if not set(core).isdisjoint(workers) for cpu in core}
    free = set(allowed) - set(workers)
    return tuple(sorted(free - shared or free))


@contextlib.contextmanager
def kept_apart(
    workers: Collection[int], siblings: Iterable[Sequence[int]]
) -> Iterator[tuple[int, ...] | None]:
    """Keep every thread of this process off the workers' CPUs; yield the CPUs that it has instead.

    Yields ``None``, and changes nothing, where no CPU is free or the platform has no affinity.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    free = free_cpus(os.sched_getaffinity(0), workers, siblings)
    before: dict[int, set[int]] = {}
    try:
        if free:
            for thread in _own_threads():
                with contextlib.suppress(OSError):  # it has ended, or a cpuset was changed meanwhile
                    before[thread] = os.sched_getaffinity(thread)
                    os.sched_setaffinity(thread, free)
        yield free or None
    finally:
        for thread, cpus in before.items():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(thread, cpus)


def _own_threads() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(entry.name) for entry in OWN_THREADS.iterdir()]
    return [0]
