"""A cache of folders: each is built once under a lock, and is complete or absent.

An entry is a folder with a ``ready.json`` beside its content, written last. Without that file the folder
is a half-built one and is thrown away. Whoever uses an entry holds a shared lock on it, so that nobody
rebuilds or removes it meanwhile.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from envdyno.sides.file_lock import FileLock, LockHolder, LockMode
from envdyno.sides.problems import SideError, SideNotice, SideProblem

READY = "ready.json"
_ATTEMPTS = 5

Notify = Callable[[SideNotice], None]


class Kind(str, Enum):
    """What a folder of the cache holds."""

    TREES = "trees"
    ENVIRONMENTS = "environments"
    COMPILED = "compiled"
    """Bytecode and kernels, one folder a side."""


class Recipe(Protocol):
    """How one entry is built, checked and removed."""

    @property
    def kind(self) -> Kind:
        """The part of the cache that the entry belongs to."""
        ...

    @property
    def key(self) -> str:
        """File name of the entry; equal keys mean equal content."""
        ...

    @property
    def title(self) -> str:
        """What the entry is, for a sentence."""
        ...

    def build(self, path: Path) -> Mapping[str, Any]:
        """Fill the empty folder ``path`` and return facts to keep with it."""
        ...

    def fault(self, path: Path, facts: Mapping[str, Any]) -> str | None:
        """Say what makes the entry unusable, or ``None``."""
        ...

    def discard(self, path: Path) -> None:
        """Remove the entry, whatever state it is in."""
        ...


@dataclass(frozen=True)
class Entry:
    """A complete folder of the cache."""

    path: Path
    facts: Mapping[str, Any]
    """What the recipe returned when it was built."""
    generation: str
    """Differs each time that the entry is built anew."""


@dataclass(frozen=True)
class StoredEntry:
    """One folder of the cache as found on disk, for listing and cleaning up."""

    kind: Kind
    key: str
    path: Path
    complete: bool
    last_used_s: float
    """Seconds since the epoch."""


class Store:
    """The cache below one folder."""

    def __init__(self, home: Path, notify: Notify = lambda _: None, wait_s: float = 3600.0) -> None:
        """Keep entries below ``home``; wait up to ``wait_s`` seconds for another process to finish one."""
        self.home = home
        self.notify = notify
        self._wait_s = wait_s

    def log_path(self, kind: Kind, key: str) -> Path:
        """Return where the build log of an entry goes; it outlives a failed build."""
        folder = self.home / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{kind.value}-{key}.log"

    def lease(self, recipe: Recipe, leases: ExitStack) -> Entry:
        """Return the entry of ``recipe``, built if need be, and held until ``leases`` is closed.

        Raises:
            SideError: the build failed, or another process holds the entry for too long.
        """
        path = self._path(recipe.kind, recipe.key)
        lock = self._lock(recipe.kind, recipe.key)
        for _ in range(_ATTEMPTS):
            self._wait_for(lock, LockMode.SHARED, recipe)
            entry = self._usable(path, recipe)
            if entry is not None:
                leases.callback(lock.release)
                _touch(path / READY)
                return entry
            lock.release()
            self._wait_for(lock, LockMode.EXCLUSIVE, recipe)
            try:
                if self._usable(path, recipe) is None:
                    self._build(path, recipe)
            finally:
                lock.release()
        raise SideError(
            SideProblem.CACHE,
            f"{recipe.title} in {path} was built, but never stayed usable. Another program may be changing "
            "that folder; remove it and try again.",
        )

    def entries(self) -> Iterator[StoredEntry]:
        """Yield what the cache holds, half-built folders included."""
        for kind in Kind:
            folder = self.home / kind.value
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                if path.is_dir():
                    marker = path / READY
                    complete = marker.is_file()
                    used = (marker if complete else path).stat().st_mtime
                    yield StoredEntry(kind, path.name, path, complete, used)

    def remove(self, entry: StoredEntry, discard: Callable[[Path], None]) -> bool:
        """Remove ``entry`` unless it is in use; return whether it is gone."""
        lock = self._lock(entry.kind, entry.key)
        if not lock.try_acquire(LockMode.EXCLUSIVE, "removing it"):
            return False
        try:
            discard(entry.path)
        finally:
            lock.release()
        return True

    def _path(self, kind: Kind, key: str) -> Path:
        return self.home / kind.value / key

    def _lock(self, kind: Kind, key: str) -> FileLock:
        return FileLock(self.home / kind.value / f"{key}.lock")

    def _wait_for(self, lock: FileLock, mode: LockMode, recipe: Recipe) -> None:
        def tell(holder: LockHolder | None) -> None:
            who = f" ({holder})" if holder else ""
            self.notify(SideNotice(f"Waiting for another process that uses {recipe.title}{who}."))

        purpose = f"preparing {recipe.title}"
        if not lock.acquire(mode, purpose, timeout_s=self._wait_s, on_wait=tell):
            raise SideError(
                SideProblem.CACHE,
                f"{recipe.title} has been held by another process for {self._wait_s:.0f} s "
                f"({lock.holder()}). Wait for it to end, or set ENVDYNO_CACHE_DIR to use a cache of your "
                "own.",
            )

    def _usable(self, path: Path, recipe: Recipe) -> Entry | None:
        entry = _read(path)
        if entry is None:
            return None
        fault = recipe.fault(path, entry.facts)
        if fault is None:
            return entry
        self.notify(SideNotice(f"{recipe.title} is built anew: {fault}."))
        return None

    def _build(self, path: Path, recipe: Recipe) -> None:
        recipe.discard(path)
        path.mkdir(parents=True)
        try:
            facts = recipe.build(path)
        except BaseException:
            recipe.discard(path)
            raise
        body = {"generation": secrets.token_hex(8), "title": recipe.title, "facts": dict(facts)}
        partial = path / f"{READY}.partial"
        partial.write_text(json.dumps(body, indent=1), encoding="utf-8")
        partial.replace(path / READY)


def discard_folder(path: Path) -> None:
    """Remove a folder of the cache that has ties to nothing else."""
    (path / READY).unlink(missing_ok=True)
    if path.exists():
        shutil.rmtree(path)


def _read(path: Path) -> Entry | None:
    try:
        body = json.loads((path / READY).read_text(encoding="utf-8"))
        return Entry(path, body["facts"], body["generation"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _touch(path: Path) -> None:
    """Note the time of last use, for cleaning up by age."""
    now = time.time()
    os.utime(path, (now, now))
