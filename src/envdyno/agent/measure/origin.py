"""Where the modules under test came from, and what was in them: the evidence that a side ran its own code.

Standard library only. The functions look at modules that are already imported and import nothing.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

SOURCE_SUFFIXES = (".py", ".so", ".pyd", ".dylib")
"""Files that hold a package's code. Bytecode does not count: it is made from these."""

_FLAG_CHECKED_BY_HASH = 0b10
_FLAG_BY_HASH = 0b01


@dataclass(frozen=True)
class Origin:
    """What one module turned out to be."""

    module: str
    loaded: bool = False
    file: str | None = None
    """Path of the module's file, links resolved; ``None`` for a namespace package."""
    sha256: str | None = None
    """:func:`code_hash` of the module's file or package folders; ``None`` if not loaded or built in."""
    namespace: bool = False
    """Whether it is a namespace package: folders without an ``__init__.py`` (PEP 420)."""
    folders: tuple[str, ...] = ()
    """Package folders, links resolved; empty for a plain module."""
    strays: Mapping[str, str] = field(default_factory=dict)
    """Loaded submodules whose file is in none of the package's folders, with that file."""
    stale: Mapping[str, str] = field(default_factory=dict)
    """Modules that may have run other code than their source file holds, with the reason."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {**asdict(self), "folders": list(self.folders)}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Origin:
        """Read what :meth:`to_json` wrote; unknown fields are ignored."""
        known = {name: body[name] for name in cls.__dataclass_fields__ if name in body}
        return cls(**{**known, "folders": tuple(known.get("folders", ()))})


def origins(names: Iterable[str]) -> list[Origin]:
    """Describe modules of this process by name, in the given order; see :class:`Origin`."""
    return [_origin(name) for name in dict.fromkeys(names)]


def modules_loaded_from(folder: str) -> list[str]:
    """Return the names of all loaded modules whose file lies in ``folder``, sorted."""
    root = os.path.realpath(folder) + os.sep
    found = [name for name, module in list(sys.modules.items()) if _file(module).startswith(root)]
    return sorted(found)


def code_hash(paths: Sequence[str]) -> str:
    """Return the SHA-256 over the code files at ``paths``: relative names and contents, in sorted order.

    A path is a file, taken under its own name, or a folder, of which all files with one of
    :data:`SOURCE_SUFFIXES` count. Links to folders are not followed, so that there is no circle.
    """
    digest = hashlib.sha256()
    for path in paths:
        for name, file in _code_files(path):
            digest.update(f"{name}\0".encode("utf-8", "surrogateescape"))
            digest.update(_file_hash(file))
    return digest.hexdigest()


def _origin(name: str) -> Origin:
    module = sys.modules.get(name)
    if module is None:
        return Origin(name)
    file = _file(module) or None
    folders = tuple(os.path.realpath(folder) for folder in getattr(module, "__path__", ()))
    paths = folders or ((file,) if file else ())
    return Origin(
        module=name,
        loaded=True,
        file=file,
        sha256=code_hash(paths) if paths else None,
        namespace=file is None and bool(folders),
        folders=folders,
        strays=_strays(name, folders),
        stale=_stale(name),
    )


def _file(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""


def _family(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Yield the module and its loaded submodules."""
    for other, module in sorted(sys.modules.items()):
        if (other == name or other.startswith(f"{name}.")) and isinstance(module, ModuleType):
            yield other, module


def _strays(name: str, folders: Sequence[str]) -> dict[str, str]:
    if not folders:
        return {}
    roots = tuple(folder + os.sep for folder in folders)
    files = ((other, _file(module)) for other, module in _family(name))
    return {other: file for other, file in files if file and not file.startswith(roots)}


def _stale(name: str) -> dict[str, str]:
    reasons = ((other, _why_stale(module)) for other, module in _family(name))
    return {other: reason for other, reason in reasons if reason}


def _why_stale(module: ModuleType) -> str | None:
    """Compare a module's bytecode with its source file.

    The header of a ``.pyc`` file holds a magic number, flags, and the time and size of its source, or a
    hash of it (PEP 552). Time and size alone let an edit within the clock's resolution pass.
    """
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return None
    if file.endswith(tuple(importlib.machinery.BYTECODE_SUFFIXES)):
        return "it is bytecode without a source file"
    cached = getattr(module, "__cached__", None)
    if not isinstance(cached, str) or not file.endswith(".py"):
        return None
    try:
        with open(cached, "rb") as stream:
            header = stream.read(16)
        facts = Path(file).stat()
        source_hash = importlib.util.source_hash(_read(file)) if len(header) == 16 and header[4] else b""
    except OSError:
        return None  # no bytecode was kept, so the source ran; or the source has gone, which the hash shows
    return _compare(header, facts, source_hash)


def _compare(header: bytes, facts: os.stat_result, source_hash: bytes) -> str | None:
    if len(header) < 16 or header[:4] != importlib.util.MAGIC_NUMBER:
        return None  # the import system does not use it
    flags = int.from_bytes(header[4:8], "little")
    if flags & _FLAG_BY_HASH:
        if header[8:16] == source_hash or flags & _FLAG_CHECKED_BY_HASH:
            return None
        return "its bytecode is marked as never to be checked, and differs from the source"
    if sys.dont_write_bytecode:
        return None  # the import system saw the difference, ran the source, and left the file as it was
    made_for = (int.from_bytes(header[8:12], "little"), int.from_bytes(header[12:16], "little"))
    if made_for != (int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF):
        return "its source was changed after it was imported"
    return None


def _code_files(path: str) -> list[tuple[str, str]]:
    root = Path(path)
    if root.is_file():
        return [(root.name, path)]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if name.endswith(SOURCE_SUFFIXES):
                file = Path(folder) / name
                found.append((file.relative_to(root).as_posix(), str(file)))
    return sorted(found)


def _file_hash(file: str) -> bytes:
    digest = hashlib.sha256()
    try:
        with open(file, "rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError:
        return b"unreadable"
    return digest.digest()


def _read(file: str) -> bytes:
    with open(file, "rb") as stream:
        return stream.read()
