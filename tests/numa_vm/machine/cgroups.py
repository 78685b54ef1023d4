"""Control groups of the guest: version 2, mounted at the usual place, this process root in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


@contextmanager
def inside(*settings: dict[str, str]) -> Iterator[Path]:
    """Run the body in a chain of groups, one in the other, each with these settings.

    Example:
        `with inside({"cpuset.cpus": "0-1", "cpuset.mems": "1"}): ...`
    """
    groups: list[Path] = []
    parent = ROOT
    try:
        for depth, values in enumerate(settings):
            _delegate(parent)
            group = parent / f"check{depth}"
            group.mkdir()
            groups.append(group)
            for name, value in values.items():
                (group / name).write_text(value)
            parent = group
        _join(parent)
        yield parent
    finally:
        _join(ROOT)
        for group in reversed(groups):
            group.rmdir()


def _delegate(group: Path) -> None:
    (group / "cgroup.subtree_control").write_text("+cpuset +cpu +memory")


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))
