"""Hardware counters in memory, for machines that have none: what a kernel answers, and a processor counts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from envdyno.host.perf_events import PerfEvent, PerfEvents, Reading


@dataclass
class FakeCounters(PerfEvents):
    """A kernel whose counters stand where a test puts them, and that refuses what it is told to."""

    refuses: dict[tuple[int | None, int | None], int] = field(default_factory=dict)
    """Error number by config and thread; ``None`` is any."""
    readings: dict[tuple[int, int], Reading] = field(default_factory=dict)
    """By config and thread; zero where not told."""
    fails_to_read: dict[int, int] = field(default_factory=dict)
    """Error number by config."""
    fds: dict[int, tuple[PerfEvent, int]] = field(default_factory=dict)
    """What is open."""
    opened: int = 100

    def open(self, event: PerfEvent, tid: int) -> int:
        for config, thread in ((event.config, tid), (event.config, None), (None, tid), (None, None)):
            if (config, thread) in self.refuses:
                code = self.refuses[config, thread]
                raise OSError(code, os.strerror(code))
        self.opened += 1
        self.fds[self.opened] = (event, tid)
        return self.opened

    def read(self, fd: int) -> Reading:
        event, tid = self.fds[fd]
        if event.config in self.fails_to_read:
            code = self.fails_to_read[event.config]
            raise OSError(code, os.strerror(code))
        return self.readings.get((event.config, tid), Reading(0, 0, 0))

    def close(self, fd: int) -> None:
        del self.fds[fd]
