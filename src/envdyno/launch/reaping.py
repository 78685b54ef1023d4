"""Ending every process of a run, also those that left their process group.

Every process of a run carries a token in its environment, which children inherit. Standard library only:
the sentinel runs this file in a bare interpreter.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable

TOKEN_VARIABLE = "ENVDYNO_RUN"  # noqa: S105 (not a secret: it marks processes)
TRACKER_GRACE_S = 1.0
"""Time for multiprocessing's resource tracker to remove shared memory that killed processes left."""
GONE_WITHIN_S = 3.0
PAUSE_S = 0.02


def processes_of(token: str, proc: str = "/proc") -> list[int]:
    """Return the ids of living processes whose environment bears the token, in ascending order.

    Zombies have no environment and are not listed. Where there is no procfs, the list is empty.
    """
    wanted = f"{TOKEN_VARIABLE}={token}".encode()
    try:
        names = os.listdir(proc)
    except OSError:
        return []
    others = (int(name) for name in names if name.isdigit() and int(name) != os.getpid())
    return sorted(pid for pid in others if wanted in _read(f"{proc}/{pid}/environ"))


def _read(path: str) -> list[bytes]:
    """Return the NUL-separated parts of a procfs file; none where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _is_resource_tracker(pid: int, proc: str = "/proc") -> bool:
    return any(b"multiprocessing.resource_tracker" in part for part in _read(f"{proc}/{pid}/cmdline"))


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_processes(token: str, groups: Iterable[int] = ()) -> list[int]:
    """Kill every process of a run, and wait until they are gone; return those that were left running.

    The resource tracker of a killed workload is left for a moment, so that no shared memory stays behind.

    Args:
        token: the run's mark.
        groups: process groups of the run, ended last: where there is no procfs, and for children that were
            started with an environment of their own.
    """
    found: set[int] = set()
    began = time.monotonic()
    while (living := processes_of(token)) and time.monotonic() - began < GONE_WITHIN_S:
        spared = {pid for pid in living if _is_resource_tracker(pid)}
        found.update(set(living) - spared)
        if time.monotonic() - began > TRACKER_GRACE_S:
            spared = set()
        _signal(set(living) - spared, signal.SIGKILL)
        time.sleep(PAUSE_S)
    # A zombie has no environment: those that died since the last look are not among the living.
    _reap(found)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    return sorted(found)


def _reap(pids: Iterable[int]) -> None:
    """Collect orphans that were handed to this process, as they are when it is process 1 of a container."""
    if os.getpid() != 1:
        return
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
