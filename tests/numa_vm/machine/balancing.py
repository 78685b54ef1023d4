"""Automatic NUMA balancing: the kernel's own moving of pages towards the CPUs that use them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SWITCH = Path("/proc/sys/kernel/numa_balancing")


@contextmanager
def on() -> Iterator[None]:
    """Run the body with balancing on, as most distributions have it. The guests boot with it off."""
    before = _SWITCH.read_text()
    _SWITCH.write_text("1")
    try:
        yield
    finally:
        _SWITCH.write_text(before)
