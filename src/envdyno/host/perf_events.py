"""Counting events of single threads and of what they start, by perf_event_open(2).

No profile is taken and nothing is interrupted: the kernel only counts, and a count is read like a file. Facts
about the call are from its manual page and include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

from envdyno.agent.system_call import system_call

_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
"""``struct perf_event_attr`` as it was first published, which every kernel takes (PERF_ATTR_SIZE_VER0): type,
size, config, sample_period, sample_type, read_format, flags, wakeup_events, bp_type, config1."""
_READING = struct.Struct("=QQQ")
_TIMES = 1 << 0 | 1 << 1
"""PERF_FORMAT_TOTAL_TIME_ENABLED and PERF_FORMAT_TOTAL_TIME_RUNNING."""
_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 1 << 3
_ANY_CPU, _NO_GROUP = -1, -1


class EventType(IntEnum):
    """Where an event comes from."""

    HARDWARE = 0
    SOFTWARE = 1


class Scope(Enum):
    """In which mode of the processor events are counted."""

    USER = "user"
    """Outside the kernel alone: what ``kernel.perf_event_paranoid`` allows everybody up to 2."""
    ALL = "all"


class PerfEvent(NamedTuple):
    """One kind of event. ``config`` is the number of the event within its type."""

    type: EventType
    config: int
    scope: Scope = Scope.USER


@dataclass(frozen=True)
class Reading:
    """A count so far, of a thread and of everything that it has started since the counter was opened."""

    count: int
    enabled_ns: int
    """Time for which the threads ran while the event was to be counted."""
    running_ns: int
    """The part of it in which a hardware counter was free to count: less, where events take turns."""

    def plus(self, other: Reading) -> Reading:
        """Return the sum of two readings."""
        return Reading(
            self.count + other.count,
            self.enabled_ns + other.enabled_ns,
            self.running_ns + other.running_ns,
        )

    def minus(self, earlier: Reading) -> Reading:
        """Return what came between two readings."""
        return Reading(
            self.count - earlier.count,
            self.enabled_ns - earlier.enabled_ns,
            self.running_ns - earlier.running_ns,
        )


class PerfEvents:
    """The counters of this machine's kernel. Every method raises ``OSError`` with the kernel's number."""

    def open(self, event: PerfEvent, tid: int) -> int:
        """Begin to count an event of one thread, and of all threads and processes that it starts from now on.

        Returns:
            A file descriptor for :meth:`read` and :meth:`close`.
        """
        flags = _INHERIT
        if event.scope is Scope.USER:
            flags |= _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
        attributes = _ATTRIBUTES.pack(
            event.type, _ATTRIBUTES.size, event.config, 0, 0, _TIMES, flags, 0, 0, 0
        )
        return system_call("perf_event_open", attributes, tid, _ANY_CPU, _NO_GROUP, _CLOSE_ON_EXEC)

    def read(self, fd: int) -> Reading:
        """Return the count so far, up to this instant on every CPU."""
        return Reading(*_READING.unpack(os.read(fd, _READING.size)))

    def close(self, fd: int) -> None:
        """End counting."""
        os.close(fd)
