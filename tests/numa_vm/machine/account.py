"""The kernel's own account of where threads may run and where pages are.

Written apart from envdyno on purpose: a check compares the two. Numbers are of x86-64.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# asm/unistd_64.h
_MBIND, _SET_MEMPOLICY, _GET_MEMPOLICY, _MOVE_PAGES = 237, 238, 239, 279

# linux/mempolicy.h
DEFAULT, PREFERRED, BIND, INTERLEAVE, LOCAL, PREFERRED_MANY = range(6)
STATIC_NODES, RELATIVE_NODES = 1 << 15, 1 << 14
_F_NODE, _F_ADDR, _F_MEMS_ALLOWED = 1, 2, 4

_NODES = 1024
_WORD = 64
PAGE = mmap.PAGESIZE

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Policy(NamedTuple):
    """A memory policy as the kernel keeps it: mode with its flag bits, and nodes."""

    mode: int
    nodes: frozenset[int]


def set_policy(mode: int, nodes: Iterable[int] = ()) -> None:
    """Set this thread's memory policy, flags in `mode` included."""
    mask = _mask(nodes)
    # maxnode counts one bit more than the mask has (set_mempolicy(2), BUGS).
    _call(_SET_MEMPOLICY, mode, mask, _NODES + 1)


def policy() -> Policy:
    """This thread's memory policy."""
    mode, mask = ctypes.c_int(), _mask(())
    _call(_GET_MEMPOLICY, ctypes.byref(mode), mask, _NODES + 1, None, 0)
    return Policy(mode.value, _members(mask))


def allowed_memory() -> frozenset[int]:
    """The memory nodes that this thread's cpuset allows."""
    mask = _mask(())
    _call(_GET_MEMPOLICY, None, mask, _NODES + 1, None, _F_MEMS_ALLOWED)
    return _members(mask)


class Pages:
    """Some anonymous memory, touched, with a hole on either side so that the kernel lists it apart."""

    def __init__(self, mebibytes: int) -> None:
        self.count = (mebibytes << 20) // PAGE
        self._map = mmap.mmap(-1, (self.count + 2) * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        whole = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.address = whole + PAGE
        for hole in (whole, self.address + self.count * PAGE):
            if _libc.mprotect(ctypes.c_void_p(hole), PAGE, mmap.PROT_READ):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.touch()

    def touch(self) -> None:
        """Write to every page."""
        ctypes.memset(self.address, 1, self.count * PAGE)

    def by_node(self) -> dict[int, int]:
        """Pages on each node, by /proc/self/numa_maps and by move_pages(2), which must agree."""
        mapped = self.by_numa_maps()
        asked = self._by_move_pages()
        assert mapped == asked, f"numa_maps says {mapped}, move_pages says {asked}"
        return mapped

    def by_numa_maps(self) -> dict[int, int]:
        """Pages on each node, by /proc/self/numa_maps alone."""
        counts = re.findall(r" N(\d+)=(\d+)", self.line_in_numa_maps())
        return {int(node): int(pages) for node, pages in counts}

    def line_in_numa_maps(self) -> str:
        """What /proc/self/numa_maps says of this memory."""
        for line in Path("/proc/self/numa_maps").read_text().splitlines():
            if int(line.split()[0], 16) == self.address:
                return line
        raise AssertionError(f"numa_maps has no line for {self.address:x}")

    def _by_move_pages(self) -> dict[int, int]:
        every = range(self.address, self.address + self.count * PAGE, PAGE)
        addresses = (ctypes.c_void_p * self.count)(*every)
        status = (ctypes.c_int * self.count)()
        _call(_MOVE_PAGES, 0, self.count, addresses, None, status, 0)
        return dict(Counter(status))


def affinity_of_threads(pid: str = "self") -> dict[int, frozenset[int]]:
    """CPUs that each thread of a process may use, by thread id, from /proc."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        listed = re.search(r"^Cpus_allowed_list:\s*(.*)$", status, re.MULTILINE)
        assert listed is not None, status
        found[int(task.name)] = frozenset(cpus(listed.group(1)))
    return found


def node_of_this_cpu() -> int:
    """The node whose CPU runs this thread now."""
    cpu = os.sched_getcpu() if hasattr(os, "sched_getcpu") else _getcpu()
    (link,) = Path(f"/sys/devices/system/cpu/cpu{cpu}").glob("node[0-9]*")
    return int(link.name.removeprefix("node"))


def cpus(listed: str) -> list[int]:
    """Read a CPU list such as `0-2,7`."""
    found: list[int] = []
    for field in listed.split(","):
        first, _, last = field.strip().partition("-")
        if first:
            found.extend(range(int(first), int(last or first) + 1))
    return found


def _getcpu() -> int:
    cpu: int = _libc.sched_getcpu()
    return cpu


def _mask(nodes: Iterable[int]) -> ctypes.Array[ctypes.c_ulong]:
    mask = (ctypes.c_ulong * (_NODES // _WORD + 1))()
    for node in nodes:
        mask[node // _WORD] |= 1 << node % _WORD
    return mask


def _members(mask: ctypes.Array[ctypes.c_ulong]) -> frozenset[int]:
    return frozenset(bit for bit in range(_NODES) if mask[bit // _WORD] >> bit % _WORD & 1)


def _call(number: int, *arguments: object) -> None:
    widened = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments]
    if _libc.syscall(ctypes.c_long(number), *widened) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
