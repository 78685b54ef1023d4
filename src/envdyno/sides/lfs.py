"""Git LFS pointer files in a checkout: found, filled from the local store, or named.

A pointer is a text file of less than 1024 bytes that begins with a ``version`` line and gives the SHA-256
and the size of the real file (git-lfs, docs/spec.md). The store is ``lfs/objects`` of the git directory,
two folder levels by the first digits of the SHA-256. envdyno needs no git-lfs and downloads nothing.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from envdyno.sides.git import IN_STORE, ask_git, run_git
from envdyno.sides.problems import SideError, SideProblem

_MAGIC = b"version https://git-lfs.github.com/spec/"
_POINTER_LIMIT_BYTES = 1024
_OID = re.compile(rb"^oid sha256:([0-9a-f]{64})$", re.MULTILINE)
_SIZE = re.compile(rb"^size ([0-9]+)$", re.MULTILINE)
_SHOWN = 5


class Pointer(NamedTuple):
    """One pointer file and what it stands for."""

    path: Path
    sha256: str
    size_bytes: int


def find_pointers(tree: Path) -> Iterator[Pointer]:
    """Yield the pointer files among the tracked files of ``tree`` (its submodules are not entered)."""
    for name in filter(None, run_git(tree, "ls-files", "-z").out.split("\0")):
        pointer = read_pointer(tree / name)
        if pointer is not None:
            yield pointer


def read_pointer(path: Path) -> Pointer | None:
    """Return what ``path`` points to, or ``None`` if it is no pointer file."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size >= _POINTER_LIMIT_BYTES:
            return None
        text = path.read_bytes()
    except OSError:
        return None
    oid, size = _OID.search(text), _SIZE.search(text)
    if not text.startswith(_MAGIC) or oid is None or size is None:
        return None
    return Pointer(path, oid.group(1).decode(), int(size.group(1)))


def stores_of(git_dirs: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders that may hold LFS objects for repositories with these git directories."""
    folders: list[Path] = []
    for git_dir in git_dirs:
        chosen = ask_git(git_dir, *IN_STORE, "config", "--path", "lfs.storage")
        if chosen.code == 0 and chosen.line:
            folders.append(git_dir / chosen.line / "objects")
        folders.append(git_dir / "lfs" / "objects")
    return tuple(folders)


def fill(pointers: Iterable[Pointer], stores: Sequence[Path]) -> tuple[Pointer, ...]:
    """Put the real files in the place of ``pointers``; return those whose object is not in the stores."""
    return tuple(pointer for pointer in pointers if not _fill_one(pointer, stores))


def refuse(missing: Sequence[Pointer], tree: Path, fetch_hint: str) -> SideError:
    """Return the error for pointers that stay pointers."""
    names = [str(pointer.path.relative_to(tree)) for pointer in missing[:_SHOWN]]
    more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    verb = "is a Git LFS pointer" if len(missing) == 1 else "are Git LFS pointers"
    return SideError(
        SideProblem.LFS_POINTER,
        f"{', '.join(names)}{more} {verb}, and the real content is not on this machine. envdyno downloads "
        f'nothing. Fetch it:\n    {fetch_hint}\nor set `lfs = "skip"` if the workload does not read these '
        "files.",
    )


def _fill_one(pointer: Pointer, stores: Sequence[Path]) -> bool:
    oid = pointer.sha256
    for store in stores:
        stored = store / oid[:2] / oid[2:4] / oid
        try:
            if stored.stat().st_size != pointer.size_bytes or _sha256(stored) != oid:
                continue
            mode = pointer.path.stat().st_mode
            partial = pointer.path.with_name(pointer.path.name + ".lfs-partial")
            shutil.copyfile(stored, partial)
            partial.chmod(mode & 0o777)
            partial.replace(pointer.path)
        except OSError:
            continue
        return True
    return False


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
