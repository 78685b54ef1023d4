"""One process compiles, the others wait and find what it compiled in the cache.

Frameworks that compile kernels when they build (numba, TorchInductor, Warp) keep them in a folder. Workers
that start together on an empty folder would each compile everything, at the same time.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def compile_turn(folder: str = sys.prefix) -> Iterator[bool]:
    """Let the first process through alone, and then all others together.

    The lock is flock(2) on a folder that exists anyway, by default that of the interpreter's environment: no
    file is written, and the kernel lets go of it when a process dies. Where it cannot be had (a file system
    without locks), nobody waits.

    Yields:
        Whether this process goes first.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        yield True
        return
    try:
        yield _locked(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return False
    except OSError:
        return True
    return True
