"""Frequency of the host's time stamp counter, which an emulated guest reads as its own.

A guest that had to find it out by itself, on a busy host, can end up with a clock that is many times too
fast or too slow: checks then "time out" at once, or never.
"""

from __future__ import annotations

import ctypes
import mmap
import time
from collections.abc import Callable

# rdtsc; shl rdx, 32; or rax, rdx; ret
_READ_COUNTER = bytes.fromhex("0f31 48c1e220 4809d0 c3")
_SPAN_S = 0.1
_TRIES = 20


def counter_khz() -> int | None:
    """Counts a millisecond; None where this host lets no program write code for itself."""
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    page.write(_READ_COUNTER)
    read_counter = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    first_count, first_ns = _read_both(read_counter)
    time.sleep(_SPAN_S)
    last_count, last_ns = _read_both(read_counter)
    return round((last_count - first_count) * 1_000_000 / (last_ns - first_ns))


def _read_both(read_counter: Callable[[], int]) -> tuple[int, int]:
    """The counter and the clock at one moment: of several tries, the one that took least time."""
    best: tuple[int, int, int] | None = None
    for _ in range(_TRIES):
        before = time.monotonic_ns()
        count = read_counter()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, count, (before + after) // 2)
    assert best is not None
    return best[1], best[2]
