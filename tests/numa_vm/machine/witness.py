"""Watches the other processes of the guest from outside, while they run."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from machine import account

_EVERY_S = 1.0


@dataclass(frozen=True)
class Sight:
    """A process as it was when it was last seen, by the kernel's account."""

    affinity: dict[int, frozenset[int]]
    """CPUs that each thread might use, by thread id."""
    pages: dict[int, int]
    """Pages of its own (anonymous) memory on each node."""
    policies: frozenset[str]
    """Memory policies of these pages, as numa_maps writes them."""


class Witness:
    """Context manager that keeps the last sight of every process."""

    def __init__(self) -> None:
        self.last: dict[int, Sight] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Witness:  # noqa: PYI034 (typing.Self is newer than Python 3.10)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY_S):
            for folder in Path("/proc").glob("[0-9]*"):
                pid = int(folder.name)
                sight = _look_at(folder) if pid != os.getpid() else None
                if sight is not None:
                    self.last[pid] = sight


def _look_at(folder: Path) -> Sight | None:
    """One process; None if it is the kernel's own, or ends meanwhile."""
    pages: Counter[int] = Counter()
    policies = set()
    try:
        for line in (folder / "numa_maps").read_text().splitlines():
            counts = re.findall(r" N(\d+)=(\d+)", line)
            if counts and " file=" not in line:
                policies.add(line.split()[1])
                pages.update({int(node): int(count) for node, count in counts})
        affinity = account.affinity_of_threads(folder.name)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Sight(affinity, dict(pages), frozenset(policies)) if pages else None
