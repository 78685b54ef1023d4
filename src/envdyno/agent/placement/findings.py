"""What differs from the placement, each with a sentence and its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.numa_maps import Residency
from envdyno.agent.placement.thread_pools import find_pools
from envdyno.agent.placement.threads import Thread
from envdyno.agent.placement.wire import Wire

REMOTE_SHARE = 0.05
"""Part of a worker's own memory on other nodes from which on it is named."""
_REMOTE_FLOOR_BYTES = 1 << 20
"""Less than this is no allocation of the workload: a few pages that the kernel set up."""
_READY_LIMIT = 1.5
"""Ready threads for each CPU from which on they are too many: two full pools at once make 2."""
_ACTIVE_SHARE = 0.01
_NAMED = 5


class FindingKind(str, Enum):
    """What is wrong."""

    MASK_SHRUNK = "mask_shrunk"
    """The process may run on fewer CPUs than its placement has."""
    MASK_WIDENED = "mask_widened"
    """Threads may run outside the placement."""
    OVERSUBSCRIBED = "oversubscribed"
    """More threads than CPUs are there to run."""
    REMOTE_PAGES = "remote_pages"
    """Memory is on other nodes than the placement's."""
    POLICY_CHANGED = "policy_changed"
    """The memory policy is not the placement's."""


@dataclass(frozen=True)
class Finding(Wire):
    """One thing that differs from the placement."""

    kind: FindingKind
    message: str


def mask_findings(threads: Sequence[Thread], main: int, cpus: tuple[int, ...]) -> Iterator[Finding]:
    """Compare the affinity of every thread with the placement's CPUs.

    Only the main thread's mask can shrink: engines pin their threads to one CPU each, inside the placement.
    """
    wanted = set(cpus)
    own = next((thread.cpus for thread in threads if thread.tid == main), None)
    if own is not None and wanted - set(own):
        yield Finding(
            FindingKind.MASK_SHRUNK,
            f"The main thread may run on CPU {format_cpulist(own)} only, and the placement has "
            f"{format_cpulist(cpus)}: a library in the process, or a change of its cpuset, took the rest.",
        )
    outside = [thread for thread in threads if thread.cpus is not None and set(thread.cpus) - wanted]
    if outside:
        extra = {cpu for thread in outside for cpu in thread.cpus or ()} - wanted
        yield Finding(
            FindingKind.MASK_WIDENED,
            f"{len(outside)} of {len(threads)} threads may run on CPU {format_cpulist(extra)}, outside the "
            f"placement ({format_cpulist(cpus)}): {_names(outside)}.",
        )


def pool_findings(threads: Sequence[Thread], main: int, cpus: tuple[int, ...]) -> Iterator[Finding]:
    """Name pools that were made for more CPUs than there are, and threads pinned on top of each other."""
    for pool in find_pools(threads, main):
        if len(pool.threads) > len(cpus):
            used = pool.cpu_time_s
            spent = "" if used is None else f" They have used {used:.2f} s of CPU time so far."
            yield Finding(
                FindingKind.OVERSUBSCRIBED,
                f"{len(pool.threads)} threads named {pool.name!r} were started together, on {len(cpus)} "
                f"{_cpus_word(cpus)} ({format_cpulist(cpus)}).{spent}",
            )
    pinned = Counter(
        thread.cpus[0]
        for thread in threads
        if thread.tid != main and thread.cpus is not None and len(thread.cpus) == 1
    )
    crowded = {cpu: count for cpu, count in pinned.items() if count > 1}
    if crowded and len(cpus) > 1:
        cpu = max(crowded, key=lambda item: (crowded[item], -item))
        yield Finding(
            FindingKind.OVERSUBSCRIBED,
            f"Several threads are pinned to one and the same CPU: {crowded[cpu]} to CPU {cpu}"
            + (f", and more than one to {len(crowded) - 1} others." if len(crowded) > 1 else "."),
        )


def demand_findings(
    before: Mapping[int, Thread], after: Sequence[Thread], elapsed_s: float, cpus: tuple[int, ...]
) -> Iterator[Finding]:
    """Name more threads that are ready to run at one time than there are CPUs, between two looks at them.

    A thread is ready to run while it runs and while it waits for a CPU. Other processes make each thread wait
    longer, but no more of them ready at once; nor do pools that take turns. So the mean number of ready
    threads tells the process's own doing, on a busy machine as well. One more than CPUs is always allowed:
    the main thread, which hands out the work.
    """
    if elapsed_s <= 0:
        return
    active, ran, waited = 0, 0.0, 0.0
    for thread in after:
        first = before.get(thread.tid)
        if thread.cpu_time_s is None or thread.wait_time_s is None:
            return
        grown = thread.cpu_time_s - ((first.cpu_time_s or 0.0) if first else 0.0)
        ran += grown
        waited += thread.wait_time_s - ((first.wait_time_s or 0.0) if first else 0.0)
        active += grown >= _ACTIVE_SHARE * elapsed_s
    ready = (ran + waited) / elapsed_s
    if active > len(cpus) and ready > max(_READY_LIMIT * len(cpus), len(cpus) + 1):
        yield Finding(
            FindingKind.OVERSUBSCRIBED,
            f"On average {ready:.1f} of {active} active threads were ready to run at once, on {len(cpus)} "
            f"{_cpus_word(cpus)}: over {elapsed_s:.1f} s they ran for {ran:.1f} s and waited for a CPU for "
            f"{waited:.1f} s.",
        )


def memory_findings(
    residency: Residency, nodes: tuple[int, ...], remote_share: float = REMOTE_SHARE
) -> Iterator[Finding]:
    """Compare where the process's own memory is with the placement's memory nodes."""
    on_nodes = residency.share_on(nodes)
    remote = {node: size for node, size in residency.own_bytes.items() if node not in nodes and size}
    if on_nodes is None or 1 - on_nodes <= remote_share or sum(remote.values()) < _REMOTE_FLOOR_BYTES:
        return
    places = ", ".join(f"{size / (1 << 20):.0f} MiB on node {node}" for node, size in remote.items())
    yield Finding(
        FindingKind.REMOTE_PAGES,
        f"{100 * (1 - on_nodes):.1f} % of the process's memory is not on node {format_cpulist(nodes)}: "
        f"{places}.",
    )


def policy_findings(actual: str | None, expected: str) -> Iterator[Finding]:
    """Compare the policy as read with the placement's."""
    if actual is not None and actual != expected:
        yield Finding(
            FindingKind.POLICY_CHANGED,
            f"The memory policy is {actual}, where the placement asks for {expected}: "
            "something in the process, or a change of its cpuset, changed it.",
        )


def _names(threads: Sequence[Thread]) -> str:
    listed = ", ".join(f"{thread.name} ({thread.tid})" for thread in threads[:_NAMED])
    more = len(threads) - _NAMED
    return listed + (f" and {more} more" if more > 0 else "")


def _cpus_word(cpus: tuple[int, ...]) -> str:
    return "CPU" if len(cpus) == 1 else "CPUs"
