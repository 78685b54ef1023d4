"""Refusing a replay buffer that cannot fit, before the kernel ends the process for it."""

from __future__ import annotations

from pathlib import Path

from envdyno.agent.placement.limits import read_limits
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.suite.collectors.replay import ReplayLayout, ReplaySize

GIB = 1 << 30


class ReplayTooLargeError(WorkloadError, MemoryError):
    """The buffer needs more memory than there is; the text says what to change."""


def available_bytes(root: str = "/") -> int | None:
    """Memory that this process can still get: the kernel's estimate, cut to the control groups' limit.

    ``MemAvailable`` of ``/proc/meminfo`` (proc_meminfo(5)). ``None`` where the system does not tell.
    """
    try:
        meminfo = (Path(root) / "proc/meminfo").read_text()
        resident_pages = int((Path(root) / "proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    told = next((line.split()[1] for line in meminfo.splitlines() if line.startswith("MemAvailable:")), None)
    if told is None:
        return None
    free = int(told) * 1024
    limit = read_limits(root).memory_limit_bytes
    return free if limit is None else min(free, limit - resident_pages * 4096)


def refuse_if_too_large(layout: ReplayLayout, size: ReplaySize, available: int | None) -> None:
    """Stop where the buffer does not fit.

    Raises:
        ReplayTooLargeError: it needs more than is available.
    """
    needed = size.bytes_needed(layout)
    if available is None or needed <= available:
        return
    fitting = int(size.steps * available / needed)
    raise ReplayTooLargeError(
        f"A replay buffer of {size.steps} steps of {size.num_envs} environments needs {needed / GIB:.1f} "
        f"GiB, and {available / GIB:.1f} GiB of memory are available. Take fewer steps "
        f"(-o replay_steps={max(2, fitting)}) or fewer environments."
    )
