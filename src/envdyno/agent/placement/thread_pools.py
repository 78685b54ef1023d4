"""Which threads of a process belong together, guessed from their names and when they started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envdyno.agent.placement.threads import Thread
from envdyno.agent.placement.wire import Wire

_TOGETHER_S = 0.05
"""A pool starts its threads in one go; on a busy machine each may take some hundredths of a second."""
_WITHOUT_DIGITS = {ord(digit): None for digit in "0123456789"}


@dataclass(frozen=True)
class ThreadPool:
    """Threads of one name (but for numbers in it) that started one right after the other."""

    name: str
    threads: tuple[Thread, ...]

    @property
    def cpu_time_s(self) -> float | None:
        """CPU time of all its threads; None when it cannot be read."""
        times = [thread.cpu_time_s for thread in self.threads]
        return None if None in times else sum(time for time in times if time is not None)


@dataclass(frozen=True)
class PoolSize(Wire):
    """A pool as it is recorded."""

    name: str
    threads: int
    cpus: tuple[int, ...]
    """CPUs that any of its threads may run on."""
    pinned: int
    """Threads that may run on one CPU only."""
    cpu_time_s: float | None
    """CPU time of all its threads; None when it cannot be read."""


def pool_sizes(pools: Sequence[ThreadPool]) -> tuple[PoolSize, ...]:
    """The pools of two threads and more, in the order in which they were started."""
    return tuple(
        PoolSize(
            name=pool.name,
            threads=len(pool.threads),
            cpus=tuple(sorted({cpu for thread in pool.threads for cpu in thread.cpus or ()})),
            pinned=sum(thread.cpus is not None and len(thread.cpus) == 1 for thread in pool.threads),
            cpu_time_s=pool.cpu_time_s,
        )
        for pool in pools
        if len(pool.threads) > 1
    )


def find_pools(threads: Sequence[Thread], main: int) -> tuple[ThreadPool, ...]:
    """The pools among all threads but the main one.

    The size of a pool tells for how many CPUs it was made. The count of all threads does not: two pools made
    for the same CPUs may well take turns, and most processes have threads that only wait.
    """
    pools: list[list[Thread]] = []
    for thread in sorted(threads, key=lambda item: (item.start_s or 0.0, item.tid)):
        if thread.tid == main:
            continue
        if pools and _belong_together(pools[-1][-1], thread):
            pools[-1].append(thread)
        else:
            pools.append([thread])
    return tuple(ThreadPool(_stem(pool[0].name), tuple(pool)) for pool in pools)


def _belong_together(first: Thread, second: Thread) -> bool:
    if _stem(first.name) != _stem(second.name):
        return False
    if first.start_s is None or second.start_s is None:
        return True
    return second.start_s - first.start_s <= _TOGETHER_S


def _stem(name: str) -> str:
    """A name without the numbers that tell a pool's threads apart: ``rayon-3``, ``Thread-12 (work)``."""
    return name.translate(_WITHOUT_DIGITS).rstrip("-_ #:") or "#"
