"""How the files of a checkout differ from its commit, as one hash over their contents.

The hash is over paths and contents, not over the text of a diff, so it does not depend on anybody's
settings for diffs. Files that git ignores do not count; what is really imported is hashed by the run.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from envdyno.sides.git import ask_git, run_git

_WHOLE_FILE_LIMIT_BYTES = 64 << 20
SHOWN_FILES = 100
"""How many names of changed files an identity keeps."""
SOURCE_SUFFIXES = frozenset({".py", ".pyi", ".pyx", ".pth", ".so", ".pyd", ".dylib"})


class Untracked(str, Enum):
    """Which untracked files count as a change."""

    ALL = "all"
    SOURCE = "source"
    """Only what Python could import: a run may leave logs and caches behind, and they change no code."""


@dataclass(frozen=True)
class TreeChanges:
    """The files that differ from the commit."""

    files: tuple[str, ...]
    sha256: str | None
    """Over paths, kinds, modes and contents; ``None`` when nothing differs."""


def tree_changes(
    tree: Path, untracked: Untracked = Untracked.ALL, settings: tuple[str, ...] = ()
) -> TreeChanges:
    """Compare the checkout ``tree`` with its HEAD: edited, deleted, added and untracked files count.

    ``settings`` are for git: :data:`envdyno.sides.git.CHECKOUT_SETTINGS` for envdyno's own checkouts.
    Submodules are entered. Of files above 64 MiB, size and modification time stand for the content.

    Raises:
        SideError: git failed.
    """
    files = sorted(_changed(tree, untracked, settings))
    if not files:
        return TreeChanges((), None)
    digest = hashlib.sha256()
    for name in files:
        digest.update(os.fsencode(name) + b"\0" + _content(tree / name) + b"\0")
    shown = tuple(os.fsencode(name).decode("utf-8", "replace") for name in files)
    return TreeChanges(shown, digest.hexdigest())


def _changed(tree: Path, untracked: Untracked, settings: tuple[str, ...]) -> Iterator[str]:
    options = ("--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
    status = run_git(tree, "status", *options, settings=settings)
    for item in filter(None, status.out.split("\0")):
        kind, _, rest = item.partition(" ")
        if kind == "?":
            names = _untracked(tree, rest)
            yield from (name for name in names if untracked is Untracked.ALL or _is_source(name))
        elif kind == "1":
            _, submodule, *_, path = rest.split(" ", 7)
            yield path
            if submodule.startswith("S") and (tree / path / ".git").exists():
                yield from (f"{path}/{inner}" for inner in _changed(tree / path, untracked, settings))
        elif kind == "u":
            yield rest.split(" ", 9)[-1]
    yield from _hidden(tree)


def _untracked(tree: Path, path: str) -> Iterator[str]:
    """Yield an untracked file, or all files of an untracked repository, which git does not look into."""
    if not path.endswith("/"):
        yield path
        return
    for folder, folders, names in os.walk(tree / path):
        if ".git" in folders:
            folders.remove(".git")
        for name in names:
            yield (Path(folder) / name).relative_to(tree).as_posix()


def _is_source(name: str) -> bool:
    return Path(name).suffix in SOURCE_SUFFIXES


def _hidden(tree: Path) -> Iterator[str]:
    """Yield edited files that the index tells git not to look at (assume-unchanged, skip-worktree)."""
    flagged = [
        item[2:]
        for item in ask_git(tree, "ls-files", "-v", "-z").out.split("\0")
        if item[:1].islower() or item[:1] == "S"
    ]
    present = [name for name in flagged if (tree / name).is_file() and "\n" not in name]
    if not present:
        return
    recorded = {}
    for item in filter(None, run_git(tree, "ls-files", "--stage", "-z", "--", *present).out.split("\0")):
        facts, name = item.split("\t", 1)
        recorded[name] = facts.split()[1]
    actual = run_git(tree, "hash-object", "--stdin-paths", text="".join(f"{name}\n" for name in present))
    for name, sha in zip(present, actual.out.split(), strict=True):
        if recorded.get(name) != sha:
            yield name


def _content(path: Path) -> bytes:
    """Return kind, mode and content hash of one path."""
    try:
        facts = path.lstat()
    except OSError:
        return b"deleted"
    if stat.S_ISLNK(facts.st_mode):
        return b"link " + os.fsencode(path.readlink())
    if not stat.S_ISREG(facts.st_mode):
        return b"folder" if stat.S_ISDIR(facts.st_mode) else b"special"
    executable = b"x" if facts.st_mode & 0o100 else b"-"
    if facts.st_size > _WHOLE_FILE_LIMIT_BYTES:
        return b"large %s %d %d" % (executable, facts.st_size, facts.st_mtime_ns)
    return b"file " + executable + hashlib.sha256(path.read_bytes()).digest()
