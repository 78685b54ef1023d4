"""Where a process's pages are, by the kernel's own account: ``/proc/PID/numa_maps`` (``man 7 numa``)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from envdyno.agent.placement.wire import Wire

_SHARED_PREFIXES = ("/dev/shm/", "/memfd:", "/SYSV", "/dev/zero")  # noqa: S108 - names in a listing
_HUGE_ANONYMOUS = "/anon_hugepage"
"""Name of explicit huge pages without a file, private or shared."""
_KIB = 1024
_LONG_NAMES = (
    ("prefer (many)", "preferred_many"),
    ("prefer", "preferred"),
    ("weighted interleave", "weighted_interleave"),
)
"""numa_maps shortens these names of modes; ``get_mempolicy`` gives their numbers."""


@dataclass(frozen=True)
class Residency(Wire):
    """Resident memory of a process by node, in bytes."""

    own_bytes: dict[int, int]
    """Private memory: what the process allocated for itself."""
    shared_bytes: dict[int, int]
    """Shared memory: its pages lie where the process that first touched them was placed."""
    file_bytes: dict[int, int]
    """Pages of files (programs, libraries): they lie where the file was first read, whoever did that."""
    policies: dict[str, int]
    """Bytes of own memory under each policy, as the kernel writes it (``bind:1``)."""

    @property
    def total_bytes(self) -> int:
        """All own memory that is resident."""
        return sum(self.own_bytes.values())

    @property
    def main_policy(self) -> str | None:
        """The policy of most of the own memory, in the kernel's own names (``bind:1``, ``preferred:0``).

        For memory that has no policy of its own, numa_maps shows that of the process's main thread.
        """
        if not self.policies:
            return None
        shown = max(self.policies, key=lambda policy: self.policies[policy])
        for short, long in _LONG_NAMES:
            if shown == short or shown.startswith((f"{short}:", f"{short}=")):
                return long + shown[len(short) :]
        return shown

    def share_on(self, nodes: tuple[int, ...]) -> float | None:
        """Part of the own memory that is on ``nodes``, from 0 to 1; None when nothing is resident."""
        total = self.total_bytes
        if not total:
            return None
        return sum(self.own_bytes.get(node, 0) for node in nodes) / total


def parse_numa_maps(text: str) -> Residency:
    """Add up the lines of a ``numa_maps``. Lines and words that are not known are passed over.

    A line is ``ADDRESS POLICY WORD...``. Words are names (``heap``) or ``key=value``; ``N1=16384`` counts
    pages of ``kernelpagesize_kB`` on node 1. Transparent huge pages are counted in pages of 4 kB.
    """
    own: Counter[int] = Counter()
    shared: Counter[int] = Counter()
    files: Counter[int] = Counter()
    policies: Counter[str] = Counter()
    for line in text.splitlines():
        policy, words = _split(line)
        values = dict(word.partition("=")[::2] for word in words)
        pages = {int(key[1:]): int(value) for key, value in values.items() if _is_count(key, value)}
        size = values.get("kernelpagesize_kB", "4")
        page_bytes = (int(size) if size.isdigit() else 4) * _KIB
        name = values.get("file", "")
        target = own
        if name.startswith(_HUGE_ANONYMOUS):
            target = own if "anon" in values else shared
        elif name:
            target = shared if name.startswith(_SHARED_PREFIXES) else files
        for node, count in pages.items():
            target[node] += count * page_bytes
        if target is own and pages:
            policies[policy] += sum(pages.values()) * page_bytes
    own_by_node, shared_by_node, files_by_node = (dict(sorted(item.items())) for item in (own, shared, files))
    return Residency(own_by_node, shared_by_node, files_by_node, dict(policies))


def _split(line: str) -> tuple[str, list[str]]:
    """Policy and the words after it. Two policies are written with a blank inside."""
    words = line.split()[1:]
    if not words:
        return "", []
    if len(words) > 1 and (words[1].startswith("(many)") or words[0] == "weighted"):
        return f"{words[0]} {words[1]}", words[2:]
    return words[0], words[1:]


def _is_count(key: str, value: str) -> bool:
    return key[:1] == "N" and key[1:].isdigit() and value.isdigit()
