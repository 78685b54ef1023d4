"""The system calls of placement; no libnuma.

Everything that changes or reads a mask or a policy goes through one :class:`Kernel` object, so that a test
can hand in another.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from envdyno.agent.placement.cpulist import bits_of
from envdyno.agent.placement.mempolicy import Policy
from envdyno.agent.system_call import ctypes_for, system_call, unsupported

_WORD_BITS = 64
_MAX_NODES = 1024
"""``get_mempolicy`` wants room for every node the kernel may have; CONFIG_NODES_SHIFT is at most 10."""
_F_MEMS_ALLOWED = 1 << 2


class Kernel:
    """Affinity and memory policy of threads on this machine.

    Every method raises ``OSError`` with the kernel's error number. Affinity and policy belong to a thread
    (``tid`` 0 is the calling one); threads and processes that it starts later inherit both.
    """

    def get_affinity(self, tid: int = 0) -> tuple[int, ...]:
        """CPUs that a thread may run on, ascending."""
        call = getattr(os, "sched_getaffinity", None)
        if call is None:
            raise unsupported("sched_getaffinity")
        return tuple(sorted(call(tid)))

    def set_affinity(self, cpus: Iterable[int], tid: int = 0) -> None:
        """Let a thread run on ``cpus`` only. The kernel silently leaves out CPUs it does not allow."""
        call = getattr(os, "sched_setaffinity", None)
        if call is None:
            raise unsupported("sched_setaffinity")
        call(tid, cpus)

    def get_policy(self) -> Policy:
        """Memory policy of the calling thread."""
        ctypes = ctypes_for("get_mempolicy")
        word = ctypes.c_int(-1)
        mask = (ctypes.c_ulong * (_MAX_NODES // _WORD_BITS + 1))()
        # The call reads one bit fewer than maxnode says.
        system_call("get_mempolicy", ctypes.byref(word), mask, _MAX_NODES + 1, None, 0)
        return Policy.from_word(word.value, _ids(mask))

    def set_policy(self, policy: Policy) -> None:
        """Set the memory policy of the calling thread, for pages that it touches from now on."""
        mask, maxnode = _node_mask(policy.nodes)
        system_call("set_mempolicy", policy.word, mask, maxnode)

    def mems_allowed(self) -> tuple[int, ...]:
        """Nodes that the calling thread's cpuset allows for memory, ascending."""
        ctypes = ctypes_for("get_mempolicy")
        mask = (ctypes.c_ulong * (_MAX_NODES // _WORD_BITS + 1))()
        system_call("get_mempolicy", None, mask, _MAX_NODES + 1, None, _F_MEMS_ALLOWED)
        return _ids(mask)

    def bind_range(self, address: int, length: int, policy: Policy) -> None:
        """Set the policy of a range of addresses (``mbind``), for pages not touched yet."""
        ctypes = ctypes_for("mbind")
        mask, maxnode = _node_mask(policy.nodes)
        system_call("mbind", ctypes.c_void_p(address), length, policy.word, mask, maxnode, 0)

    def page_nodes(self, addresses: Sequence[int], pid: int = 0) -> tuple[int, ...]:
        """Node of the page at each address (``move_pages`` as a query); a negative errno where it fails.

        Linux 6.1 answers ``-ENOENT`` for resident pages that automatic balancing has marked, so an absent
        page here is no proof of an absent page.
        """
        ctypes = ctypes_for("move_pages")
        count = len(addresses)
        pages = (ctypes.c_void_p * count)(*addresses)
        status = (ctypes.c_int * count)()
        system_call("move_pages", pid, count, pages, None, status, 0)
        return tuple(status)


def _node_mask(nodes: tuple[int, ...]) -> tuple[Any, int]:
    """A node mask for the kernel and its ``maxnode``: one more than the bits, for the call reads one fewer.

    Without that one more, node 63, 127, ... could not be named.
    """
    if not nodes:
        return None, 0
    ctypes = ctypes_for("set_mempolicy")
    words = max(nodes) // _WORD_BITS + 1
    mask = (ctypes.c_ulong * words)()
    for node in nodes:
        mask[node // _WORD_BITS] |= 1 << node % _WORD_BITS
    return mask, words * _WORD_BITS + 1


def _ids(mask: Iterable[int]) -> tuple[int, ...]:
    """Ids of the bits set in an array of words."""
    value = 0
    for index, word in enumerate(mask):
        value |= word << index * _WORD_BITS
    return bits_of(value)
