"""Reads of sysfs and procfs under a root that tests can replace.

A file that is not there is an ordinary answer here: kernels, containers and sandboxes leave out different
ones. So every read gives None where there is nothing to read, and the caller says what that means.
"""

from __future__ import annotations

import os
from pathlib import Path

from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.agent.placement.errors import PlacementError

Root = str | os.PathLike[str]


def under(root: Root, path: str) -> Path:
    """The path of an absolute kernel path below ``root``."""
    return Path(root, path.lstrip("/"))


def is_live(root: Root) -> bool:
    """Whether the root is that of this machine, so that system calls tell about the same kernel."""
    return Path(root).resolve() == Path("/")


def read_text(root: Root, path: str) -> str | None:
    """The text of a file without surrounding blanks, or None when it cannot be read."""
    try:
        with open(under(root, path), encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        # Beside a missing file: EIO, ENODEV, EINVAL from attributes of devices that have gone.
        return None


def read_int(root: Root, path: str) -> int | None:
    """The number in a file, or None when there is none."""
    text = read_text(root, path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def read_list(root: Root, path: str, problems: list[str] | None = None) -> tuple[int, ...] | None:
    """The CPU or node list in a file; None when it cannot be read or is no list.

    Args:
        root: Root of the file system.
        path: The file below it.
        problems: Gets a sentence when the file is there and holds something else.
    """
    text = read_text(root, path)
    if text is None:
        return None
    try:
        return parse_cpulist(text)
    except PlacementError as error:
        if problems is not None:
            problems.append(f"{path}: {error}")
        return None


def names(root: Root, path: str) -> tuple[str, ...]:
    """Names in a folder, sorted; empty when there is no such folder."""
    try:
        return tuple(sorted(entry.name for entry in under(root, path).iterdir()))
    except OSError:
        return ()


def numbered(root: Root, path: str, prefix: str) -> tuple[int, ...]:
    """Numbers of the entries ``<prefix><number>`` in a folder, ascending."""
    suffixes = (name[len(prefix) :] for name in names(root, path) if name.startswith(prefix))
    return tuple(sorted(int(suffix) for suffix in suffixes if suffix.isascii() and suffix.isdigit()))
