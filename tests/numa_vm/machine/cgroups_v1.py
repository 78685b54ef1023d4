"""Control groups of version 1, mounted for one process, as an older host or container has them.

A controller belongs to one version at a time, for the whole guest: use this on a topology whose checks leave
version 2 of that controller alone.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_CLONE_NEWNS, _MS_REC, _MS_PRIVATE = 0x20000, 0x4000, 1 << 18


@contextmanager
def inside(controllers: str, *settings: dict[str, str]) -> Iterator[Path]:
    """Run the body in a chain of groups with these settings. The process sees no other groups from then on.

    Example:
        `with inside("cpu", {"cpu.cfs_quota_us": "150000"}): ...`
    """
    _own_mounts()
    _mount("tmpfs", ROOT, "tmpfs", "")
    group = ROOT / controllers
    group.mkdir()
    _mount("cgroup", group, "cgroup", controllers)
    for depth, values in enumerate(settings):
        group = group / f"check{depth}"
        group.mkdir()
        for name, value in values.items():
            (group / name).write_text(value)
    (group / "cgroup.procs").write_text(str(os.getpid()))
    yield group


def _own_mounts() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    if libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None):
        raise OSError(ctypes.get_errno(), "mount")


def _mount(source: str, target: Path, kind: str, options: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    texts = (source.encode(), os.fsencode(target), kind.encode())
    if libc.mount(*texts, ctypes.c_ulong(0), options.encode() or None):
        code = ctypes.get_errno()
        raise OSError(code, f"mount {kind} on {target}: {os.strerror(code)}")
