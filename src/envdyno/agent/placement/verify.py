"""Read back where a process really runs and where its memory really is, and compare with its placement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.findings import (
    REMOTE_SHARE,
    Finding,
    FindingKind,
    demand_findings,
    mask_findings,
    memory_findings,
    policy_findings,
    pool_findings,
)
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.mempolicy import policy_for
from envdyno.agent.placement.numa_maps import Residency, parse_numa_maps
from envdyno.agent.placement.outcome import Outcome, State
from envdyno.agent.placement.pages import PageSample, sample_pages
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.syscalls import Kernel
from envdyno.agent.placement.thread_pools import PoolSize, find_pools, pool_sizes
from envdyno.agent.placement.threads import Thread, read_threads
from envdyno.agent.placement.wire import Wire

__all__ = ["Audit", "Finding", "FindingKind", "PoolSize", "Residency", "Thread", "audit"]

_IN_PLACE = (State.APPLIED, State.PARTIAL)


@dataclass(frozen=True)
class Audit(Wire):
    """What a process looks like from outside, at one moment."""

    pid: int
    at_s: float | None
    """When, in seconds since boot."""
    threads: tuple[Thread, ...]
    """Every thread; empty where the system does not show them."""
    pools: tuple[PoolSize, ...]
    """Groups of threads that were started together, as far as names and times tell."""
    policy: str | None
    """Memory policy, e.g. ``bind:1``; None when it cannot be read."""
    residency: Residency | None
    """Resident memory by node; None when it cannot be read."""
    sample: PageSample | None
    """A sample of single pages, as a cross-check; None when the system refuses it."""
    absent: dict[str, str]
    """Why ``threads``, ``policy``, ``residency`` or ``sample`` is not there, by name."""
    findings: tuple[Finding, ...]
    """What differs from the placement."""

    @property
    def thread_count(self) -> int | None:
        """Number of threads; None when the system does not show them."""
        return len(self.threads) or None

    def share_on(self, nodes: tuple[int, ...]) -> float | None:
        """Part of the process's own memory on ``nodes``; None when it is not known."""
        return None if self.residency is None else self.residency.share_on(nodes)


def audit(
    pid: int | None = None,
    root: Root = "/",
    placement: Placement | None = None,
    *,
    outcome: Outcome | None = None,
    since: Audit | None = None,
    remote_share: float = REMOTE_SHARE,
    kernel: Kernel | None = None,
) -> Audit:
    """Look at a process: every thread's affinity, the memory policy, resident memory by node.

    Args:
        pid: The process; the calling one by default.
        root: Root of the file system.
        placement: What to compare with; without it there are no findings.
        outcome: What came of binding; a half that was not bound is not compared.
        since: An earlier audit of the same process: shows whether its threads waited for CPUs since.
        remote_share: Part of the memory on other nodes from which on it is named.
        kernel: The system calls; those of this machine by default.
    """
    calls = Kernel() if kernel is None and kernelfs.is_live(root) else kernel
    who: int | str = "self" if pid is None else pid
    absent: dict[str, str] = {}
    threads = read_threads(root, who, calls)
    if not threads:
        absent["threads"] = f"The system does not show the threads of process {who} (/proc/{who}/task)."
    residency = _residency(root, who, absent)
    number = os.getpid() if pid is None else pid
    main = _main_thread(number, threads)
    result = Audit(
        pid=number,
        at_s=_uptime(root),
        threads=threads,
        pools=pool_sizes(find_pools(threads, main)),
        policy=_policy(pid, calls, residency, absent),
        residency=residency,
        sample=_sample(root, who, calls, absent),
        absent=absent,
        findings=(),
    )
    if placement is None:
        return result
    found = (
        *_cpu_findings(result, main, placement, outcome, since),
        *_memory_findings(result, placement, outcome, remote_share),
    )
    return Audit(**{**vars(result), "findings": found})


def _cpu_findings(
    result: Audit, main: int, placement: Placement, outcome: Outcome | None, since: Audit | None
) -> Iterator[Finding]:
    threads, cpus = result.threads, placement.cpus
    if cpus and (outcome is None or outcome.cpu.state in _IN_PLACE):
        yield from mask_findings(threads, main, cpus)
    here = cpus or next((thread.cpus for thread in threads if thread.tid == main and thread.cpus), ())
    if not here:
        return
    yield from pool_findings(threads, main, here)
    if since is not None and since.at_s is not None and result.at_s is not None:
        before = {thread.tid: thread for thread in since.threads}
        yield from demand_findings(before, threads, result.at_s - since.at_s, here)


def _memory_findings(
    result: Audit, placement: Placement, outcome: Outcome | None, remote_share: float
) -> Iterator[Finding]:
    bound = outcome is None or outcome.memory.state in _IN_PLACE
    if placement.policy is MemoryPolicy.OFF or not placement.memory_nodes or not bound:
        return
    yield from policy_findings(result.policy, str(policy_for(placement.policy, placement.memory_nodes)))
    if result.residency is not None:
        yield from memory_findings(result.residency, placement.memory_nodes, remote_share)


def _main_thread(pid: int, threads: tuple[Thread, ...]) -> int:
    """The thread that has the process's id; where process ids are those of another namespace, the first."""
    ids = [thread.tid for thread in threads]
    return pid if pid in ids or not ids else ids[0]


def _residency(root: Root, who: int | str, absent: dict[str, str]) -> Residency | None:
    path = f"/proc/{who}/numa_maps"
    try:
        text = kernelfs.under(root, path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        absent["residency"] = f"{path} cannot be read: {error.strerror}."
        return None
    return parse_numa_maps(text)


def _policy(
    pid: int | None, calls: Kernel | None, residency: Residency | None, absent: dict[str, str]
) -> str | None:
    """The policy by system call, which tells of the calling thread only; else as numa_maps shows it."""
    reason = "get_mempolicy tells of the calling process only"
    if pid in (None, os.getpid()) and calls is not None:
        try:
            return str(calls.get_policy())
        except OSError as error:
            reason = f"get_mempolicy failed: {error.strerror}"
    shown = residency.main_policy if residency is not None else None
    if shown is None:
        absent["policy"] = f"{reason[0].upper()}{reason[1:]}, and numa_maps shows none."
    return shown


def _sample(root: Root, who: int | str, calls: Kernel | None, absent: dict[str, str]) -> PageSample | None:
    if calls is None:
        absent["sample"] = "Pages of another system's tree cannot be asked for."
        return None
    try:
        sample = sample_pages(root, who, calls)
    except OSError as error:
        absent["sample"] = f"move_pages failed: {error.strerror}."
        return None
    if sample is None:
        absent["sample"] = "The process shows no private writable memory."
    return sample


def _uptime(root: Root) -> float | None:
    fields = (kernelfs.read_text(root, "/proc/uptime") or "").split()
    try:
        return float(fields[0]) if fields else None
    except ValueError:
        return None
