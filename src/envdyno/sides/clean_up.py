"""Listing and removing what preparation left in the cache."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from envdyno.sides.checkout import discard_checkout
from envdyno.sides.store import Kind, Store, StoredEntry, discard_folder

_DISCARD: dict[Kind, Callable[[Path], None]] = {
    Kind.TREES: discard_checkout,
    Kind.ENVIRONMENTS: discard_folder,
    Kind.COMPILED: discard_folder,
}


class CleanUp(NamedTuple):
    """What was done with the cache."""

    removed: tuple[StoredEntry, ...]
    in_use: tuple[StoredEntry, ...]
    """Left alone, because a running experiment holds them."""


def clean_up(home: Path, unused_for_s: float = 0.0) -> CleanUp:
    """Remove what no experiment has used for ``unused_for_s`` seconds, and all that is half-built.

    Checkouts are also taken from the list of worktrees of their repositories.
    """
    store = Store(home)
    now = time.time()
    removed: list[StoredEntry] = []
    in_use: list[StoredEntry] = []
    for entry in store.entries():
        if entry.complete and now - entry.last_used_s < unused_for_s:
            continue
        gone = store.remove(entry, _DISCARD[entry.kind])
        (removed if gone else in_use).append(entry)
    return CleanUp(tuple(removed), tuple(in_use))


def size_bytes(folder: Path) -> int:
    """Return what the files of a folder occupy on disk; a file with several names counts once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            facts = (Path(place) / name).lstat()
            if (facts.st_dev, facts.st_ino) not in seen:
                seen.add((facts.st_dev, facts.st_ino))
                total += facts.st_blocks * 512
    return total
