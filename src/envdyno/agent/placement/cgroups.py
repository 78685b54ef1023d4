"""Where a process's control groups are, and what they and their ancestors say (``man 7 cgroups``).

A limit of an ancestor holds for all below it, so every level from the process's group up to the mount
counts. Versions 1 and 2 can be mounted side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import PurePosixPath
from typing import NamedTuple

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.kernelfs import Root

_FALLBACK_V2 = "/sys/fs/cgroup"


class Version(str, Enum):
    """The two control group interfaces."""

    V1 = "v1"
    V2 = "v2"


class Group(NamedTuple):
    """One control group that holds the process, or an ancestor of it."""

    version: Version
    folder: str
    """Folder on the host's file system."""


class _Mount(NamedTuple):
    version: Version
    point: str
    base: str
    """Which group is at the mount point: ``/`` on a host, the container's own group in a container."""
    controllers: frozenset[str]


def groups(root: Root, pid: int | str, controller: str) -> tuple[Group, ...]:
    """The groups whose ``controller`` limits hold for a process, innermost first in each version."""
    member = _membership(root, pid)
    found: list[Group] = []
    for mount in _mounts(root, pid):
        if mount.version is Version.V1 and controller not in mount.controllers:
            continue
        key = controller if mount.version is Version.V1 else ""
        path = member.get(key)
        if path is not None:
            found += [Group(mount.version, folder) for folder in _levels(mount, path)]
    return tuple(dict.fromkeys(found))


def _membership(root: Root, pid: int | str) -> dict[str, str]:
    """Path of the process's group by v1 controller; under the empty name for v2."""
    paths: dict[str, str] = {}
    for line in (kernelfs.read_text(root, f"/proc/{pid}/cgroup") or "").splitlines():
        fields = line.split(":", 2)
        if len(fields) == 3:
            for controller in fields[1].split(","):
                paths[controller] = fields[2]
    return paths


def _mounts(root: Root, pid: int | str) -> Iterator[_Mount]:
    """Mounted hierarchies, from mountinfo (``man 5 proc_pid_mountinfo``)."""
    text = kernelfs.read_text(root, f"/proc/{pid}/mountinfo")
    if text is None:
        if kernelfs.read_text(root, f"{_FALLBACK_V2}/cgroup.controllers") is not None:
            yield _Mount(Version.V2, _FALLBACK_V2, "/", frozenset())
        return
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        before, after = left.split(), right.split()
        if len(before) < 5 or len(after) < 3 or after[0] not in ("cgroup", "cgroup2"):
            continue
        version = Version.V2 if after[0] == "cgroup2" else Version.V1
        controllers = frozenset(after[2].split(",")) if version is Version.V1 else frozenset()
        yield _Mount(version, _unescape(before[4]), _unescape(before[3]), controllers)


def _levels(mount: _Mount, path: str) -> Iterator[str]:
    """Folders of a group and its ancestors, up to the mount point."""
    point = PurePosixPath(mount.point)
    try:
        relative = PurePosixPath(path).relative_to(mount.base)
    except ValueError:
        # The group lies outside what is mounted here (cgroup namespaces show that as /..): all that can be
        # seen of the limits is the mount point itself.
        relative = PurePosixPath()
    if ".." in relative.parts:
        relative = PurePosixPath()
    inner = point / relative
    yield str(inner)
    while inner != point:
        inner = inner.parent
        yield str(inner)


def _unescape(text: str) -> str:
    """Blanks in mountinfo are octal escapes."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
