"""A sample of a process's pages, asked one by one (``move_pages`` as a query); a cross-check of numa_maps.

Not the first account: containers refuse the call more often than they hide numa_maps, and Linux 6.1 denies
that pages are there which automatic balancing has marked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.syscalls import Kernel
from envdyno.agent.placement.wire import Wire

_SAMPLES = 512
_PAGE_BYTES = 4096


@dataclass(frozen=True)
class PageSample(Wire):
    """Nodes of a sample of private writable pages."""

    pages: dict[int, int]
    """Pages by node."""
    unanswered: int
    """Pages that are not resident, or of which the kernel does not tell."""


def sample_pages(root: Root, pid: int | str, kernel: Kernel) -> PageSample | None:
    """Ask for pages at even distances over the private writable memory.

    Returns:
        None when there is nothing to ask for.

    Raises:
        OSError: When the system refuses or lacks the call.
    """
    spans = _anonymous_spans(kernelfs.read_text(root, f"/proc/{pid}/maps") or "")
    total = sum(end - start for start, end in spans) // _PAGE_BYTES
    if not total:
        return None
    step = max(1, total // _SAMPLES) * _PAGE_BYTES
    addresses = [address for start, end in spans for address in range(start, end, step)][: 2 * _SAMPLES]
    answers = kernel.page_nodes(addresses, 0 if pid == "self" else int(pid))
    found = Counter(node for node in answers if node >= 0)
    return PageSample(dict(sorted(found.items())), sum(node < 0 for node in answers))


def _anonymous_spans(text: str) -> list[tuple[int, int]]:
    """Ranges of private writable memory without a file, from ``maps``."""
    spans = []
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) >= 5 and fields[1].startswith("rw") and fields[1].endswith("p") and fields[4] == "0":
            start, _, end = fields[0].partition("-")
            spans.append((int(start, 16), int(end, 16)))
    return spans
