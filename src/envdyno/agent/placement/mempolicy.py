"""The kernel's memory policies: modes, mode flags, nodes (``man 2 set_mempolicy``)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.placement import MemoryPolicy


class Mode(IntEnum):
    """Numbers of ``linux/mempolicy.h``."""

    DEFAULT = 0
    PREFERRED = 1
    BIND = 2
    INTERLEAVE = 3
    LOCAL = 4
    PREFERRED_MANY = 5
    WEIGHTED_INTERLEAVE = 6


STATIC_NODES = 1 << 15
"""``MPOL_F_STATIC_NODES``: the nodes are physical ids, kept when the cpuset changes."""
RELATIVE_NODES = 1 << 14
"""``MPOL_F_RELATIVE_NODES``: the nodes count within the cpuset."""
NUMA_BALANCING = 1 << 13
"""``MPOL_F_NUMA_BALANCING``: automatic balancing among the nodes of a bind."""
_FLAG_NAMES = ((STATIC_NODES, "static"), (RELATIVE_NODES, "relative"), (NUMA_BALANCING, "balancing"))
_FLAGS = STATIC_NODES | RELATIVE_NODES | NUMA_BALANCING

_MODES = {
    MemoryPolicy.BIND: Mode.BIND,
    MemoryPolicy.PREFERRED: Mode.PREFERRED,
    MemoryPolicy.INTERLEAVE: Mode.INTERLEAVE,
}


class Policy(NamedTuple):
    """A thread's memory policy, exactly as the kernel keeps it."""

    mode: int
    """One of :class:`Mode`, or a number that a newer kernel knows."""
    flags: int = 0
    """Mode flags, ``MPOL_F_*``."""
    nodes: tuple[int, ...] = ()
    """Node ids, ascending."""

    @classmethod
    def from_word(cls, word: int, nodes: tuple[int, ...]) -> Policy:
        """The policy that ``get_mempolicy`` gave: mode and flags in one word."""
        return cls(word & ~_FLAGS, word & _FLAGS, nodes)

    @property
    def word(self) -> int:
        """Mode and flags as the system calls take them."""
        return self.mode | self.flags

    def __str__(self) -> str:
        """For people, close to ``numa_maps``: ``bind=static:0-1``."""
        name = Mode(self.mode).name.lower() if self.mode in set(Mode) else f"mode {self.mode}"
        flags = "|".join(label for bit, label in _FLAG_NAMES if self.flags & bit)
        nodes = format_cpulist(self.nodes)
        return name + (f"={flags}" if flags else "") + (f":{nodes}" if nodes else "")


def policy_for(policy: MemoryPolicy, nodes: tuple[int, ...]) -> Policy:
    """The kernel policy of a placement. ``preferred`` takes several nodes since Linux 5.15 only.

    Raises:
        ValueError: For OFF, which is no kernel policy.
    """
    if policy is MemoryPolicy.OFF:
        raise ValueError("The policy 'off' leaves the kernel's policy alone; there is nothing to set.")
    mode = _MODES[policy]
    if mode is Mode.PREFERRED and len(nodes) > 1:
        mode = Mode.PREFERRED_MANY
    return Policy(mode, 0, tuple(sorted(nodes)))
