"""Share cores and threads out among workers."""

from __future__ import annotations

import math
from collections.abc import Sequence


def share_out(cores: Sequence[tuple[int, ...]], workers: int) -> tuple[tuple[int, ...], ...]:
    """CPUs of each worker: whole cores, neighbours kept together, counts that differ by one core at most.

    Args:
        cores: CPUs grouped by core, at least one core a worker.
        workers: How many shares.
    """
    sizes = even_sizes(len(cores), workers)
    shares = []
    start = 0
    for size in sizes:
        part = cores[start : start + size]
        shares.append(tuple(sorted(cpu for core in part for cpu in core)))
        start += size
    return tuple(shares)


def even_sizes(total: int, parts: int) -> tuple[int, ...]:
    """``total`` as a sum of ``parts`` numbers that differ by one at most, the larger ones first."""
    quotient, remainder = divmod(total, parts)
    return tuple(quotient + (index < remainder) for index in range(parts))


def thread_counts(cpus: Sequence[int], quota_cpus: float | None) -> tuple[int, ...]:
    """Threads of each worker: its CPUs, or its part of the CPU quota (rounded up) where that is less.

    The parts are proportional to the CPUs, at least 1 each, and add up to no more than the quota rounded up
    unless there are more workers than that.

    Args:
        cpus: Number of CPUs of each worker.
        quota_cpus: CPU quota over all workers, in CPUs; None without one.
    """
    total = sum(cpus)
    budget = total if quota_cpus is None else math.ceil(quota_cpus)
    if budget >= total:
        return tuple(cpus)
    exact = [budget * count / total for count in cpus]
    threads = [max(1, math.floor(part)) for part in exact]
    by_need = sorted(range(len(cpus)), key=lambda index: (threads[index] - exact[index], index))
    for index in by_need:
        if sum(threads) < budget and threads[index] < cpus[index]:
            threads[index] += 1
    while sum(threads) > max(budget, len(threads)):
        # Minimums of 1 took more than their part: the largest gives back.
        threads[threads.index(max(threads))] -= 1
    return tuple(threads)
