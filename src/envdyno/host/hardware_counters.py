"""Hardware counters of the workers in the window: instructions, cycles, cache and branch misses.

Who counts: the control, on each worker's threads, after the process was started and before it is told what
to do. Until then it has imported nothing of the workload, so that no thread of a pool exists yet; a new
thread or process inherits the counter from the one that starts it (perf_event_open(2), "inherit"), and so
every one that the workload ever starts is counted. It passes through ``execve``. Attaching later would miss
threads: inheritance holds for "new children, not ... any existing children", and a list of threads is out of
date when it has been read. If the worker counted itself, reading would cost time between two of its steps,
and engines hold the interpreter lock while they step. A process may be counted by another of the same user
(ptrace(2), PTRACE_MODE_READ_REALCREDS), as a child is by its parent.

What is counted: user space alone, which ``kernel.perf_event_paranoid`` allows to everybody up to 2, the
kernel's default; and so a figure means the same whatever the setting is. Counting is not sampling: nothing is
interrupted. Counters are read shortly before the window and after it, and the time between is kept with them.
The kernel saves and restores the counters when it changes between threads, which costs a virtual machine
with counters of its own some exits: ``--hardware-counters off`` is for workloads that change threads often.

A processor counts only some events at once. Where there are more, they take turns, and a count is scaled by
the time for which it was to count over the time for which it did (``time_enabled``, ``time_running``); the
share is kept beside it. Events are opened one by one, not as a group, for inherited counters of a group
cannot be read together.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from envdyno.host.core_pmus import core_pmus
from envdyno.host.counter_refusal import refusal_text
from envdyno.host.perf_events import EventType, PerfEvent, PerfEvents, Reading

# PERF_COUNT_HW_* of include/uapi/linux/perf_event.h. Cache events are those of the last level, as a rule.
HARDWARE_EVENTS: Mapping[str, PerfEvent] = {
    "instructions": PerfEvent(EventType.HARDWARE, 1),
    "cycles": PerfEvent(EventType.HARDWARE, 0),
    "cache_references": PerfEvent(EventType.HARDWARE, 2),
    "cache_misses": PerfEvent(EventType.HARDWARE, 3),
    "branch_misses": PerfEvent(EventType.HARDWARE, 5),
}
NEVER_COUNTED = (
    "no hardware counter was free for it in the window; others hold them: a profiler that runs, or the "
    "kernel's watchdog (kernel.nmi_watchdog)"
)


@dataclass(frozen=True)
class EventCount:
    """How often an event came in the window."""

    count: int
    """In user space; scaled up where the share is below 1."""
    counted_share: float
    """Of the time for which the event was to be counted, the part in which it was; 1 where it need not share
    its counter."""


@dataclass(frozen=True)
class CounterSample:
    """One reading of every open counter: by event, for each worker."""

    at_s: float
    workers: tuple[Mapping[str, Reading], ...]


@dataclass(frozen=True)
class HardwareUse:
    """What was counted between two samples."""

    elapsed_s: float
    workers: tuple[Mapping[str, EventCount], ...]
    missing: Mapping[str, str]
    """By event, why it is not counted on every worker, as a clause. An event that is not in it is told of
    every worker; one that is in it, of none."""


class HardwareCounters:
    """Counters on the process trees of workers. To be closed.

    Args:
        pids: of the workers, each of which has not been told yet what to do.
        events: what to count, by name.
        kernel: the system calls.
        root: of procfs and sysfs.
    """

    def __init__(
        self,
        pids: Sequence[int],
        events: Mapping[str, PerfEvent] = HARDWARE_EVENTS,
        kernel: PerfEvents | None = None,
        root: Path = Path("/"),
    ) -> None:
        """Open every counter that can be had; what cannot is told by :meth:`between`."""
        self._kernel = kernel or PerfEvents()
        self._root = root
        self._missing: dict[str, str] = {}
        self._open: list[dict[str, _Counter]] = [{} for _ in pids]
        pmus = core_pmus(root)
        for name, event in events.items():
            configs = pmus if event.type is EventType.HARDWARE else (0,)
            self._begin(name, [event._replace(config=event.config | config) for config in configs], pids)

    def read(self) -> CounterSample:
        """Read every counter."""
        at_s = time.monotonic()
        workers: list[dict[str, Reading]] = [{} for _ in self._open]
        for name in list(self._names()):
            try:
                for found, counters in zip(workers, self._open, strict=True):
                    found[name] = counters[name].read(self._kernel)
            except OSError as error:
                self._refuse(name, refusal_text(error, self._root))
        return CounterSample(at_s, tuple(workers))

    def between(self, before: CounterSample, after: CounterSample) -> HardwareUse:
        """Return what was counted between two samples."""
        missing = dict(self._missing)
        workers: list[dict[str, EventCount]] = [{} for _ in self._open]
        for name in self._names():
            for found, first, last in zip(workers, before.workers, after.workers, strict=True):
                count = _scaled(last[name].minus(first[name]))
                if count is None:
                    missing[name] = NEVER_COUNTED
                else:
                    found[name] = count
        told = tuple(
            {name: count for name, count in found.items() if name not in missing} for found in workers
        )
        return HardwareUse(after.at_s - before.at_s, told, missing)

    def close(self) -> None:
        """End counting."""
        for counters in self._open:
            for counter in counters.values():
                counter.close(self._kernel)
            counters.clear()

    def _names(self) -> Iterator[str]:
        """Yield the events that are counted on every worker."""
        return iter(dict.fromkeys(name for counters in self._open for name in counters))

    def _begin(self, name: str, units: Sequence[PerfEvent], pids: Sequence[int]) -> None:
        """Count one event on all workers, or on none."""
        try:
            for counters, pid in zip(self._open, pids, strict=True):
                counters[name] = _Counter()
                self._attach(counters[name], units, pid)
        except OSError as error:
            self._refuse(name, refusal_text(error, self._root))

    def _attach(self, counter: _Counter, units: Sequence[PerfEvent], pid: int) -> None:
        """Count on every thread of a process, also on those that are started while this goes on.

        Before it is told what to do, a worker has its main thread and what a ``.pth`` file may have started.
        """
        while new := [tid for tid in self._threads(pid) if tid not in counter.fds]:
            for tid in new:
                counter.fds[tid] = []
                try:
                    for unit in units:
                        counter.fds[tid].append(self._kernel.open(unit, tid))
                except ProcessLookupError:
                    # A thread that has ended does nothing in the window; without its main one there is none.
                    if tid == pid:
                        raise

    def _threads(self, pid: int) -> list[int]:
        with contextlib.suppress(OSError):
            folder = self._root / "proc" / str(pid) / "task"
            return sorted({pid} | {int(entry.name) for entry in folder.iterdir()})
        return [pid]

    def _refuse(self, name: str, why: str) -> None:
        """Leave out an event on all workers: a figure of some of them would be taken for one of all."""
        self._missing[name] = why
        for counters in self._open:
            if name in counters:
                counters.pop(name).close(self._kernel)


class _Counter:
    """One event on the threads of one process, each with a descriptor for each unit that counts it."""

    def __init__(self) -> None:
        self.fds: dict[int, list[int]] = {}

    def read(self, kernel: PerfEvents) -> Reading:
        """Return the count over all threads and units.

        The units of a hybrid processor count in turn as a thread moves: the time to be counted is that of one
        of them, the time that was counted is that of all.
        """
        total = Reading(0, 0, 0)
        for fds in self.fds.values():
            readings = [kernel.read(fd) for fd in fds]
            if readings:
                whole = reduce(Reading.plus, readings)
                longest_ns = max(one.enabled_ns for one in readings)
                total = total.plus(replace(whole, enabled_ns=longest_ns))
        return total

    def close(self, kernel: PerfEvents) -> None:
        for fds in self.fds.values():
            for fd in fds:
                with contextlib.suppress(OSError):
                    kernel.close(fd)
        self.fds.clear()


def _scaled(reading: Reading) -> EventCount | None:
    """Return a count as if it had been counted all the time; ``None`` where it never was."""
    if reading.enabled_ns <= 0:
        # Nothing of the process ran.
        return EventCount(reading.count, 1.0)
    if reading.running_ns <= 0:
        return None
    share = reading.running_ns / reading.enabled_ns
    return EventCount(round(reading.count * reading.enabled_ns / reading.running_ns), share)
