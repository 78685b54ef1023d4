"""Which modules a folder offers to the import system, without importing anything."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_EXTENSIONS = (".so", ".pyd")
_NO_MODULES = frozenset({"setup.py", "conftest.py", "noxfile.py"})


def importable_modules(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the top-level modules of ``folders``, earlier folders first, as the import system searches.

    A package stands for its ``__init__.py``. A folder without one counts only if it holds Python files
    itself, and yields to a regular package or module in any of the folders (PEP 420).
    """
    regular: dict[str, Path] = {}
    namespaces: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            name = path.name.split(".")[0]
            if not name.isidentifier() or path.name in _NO_MODULES:
                continue
            if path.is_dir():
                _take_folder(path, regular, namespaces)
            elif path.suffix == ".py" or path.suffix in _EXTENSIONS:
                regular.setdefault(name, path)
    return {**namespaces, **regular}


def _take_folder(path: Path, regular: dict[str, Path], namespaces: dict[str, Path]) -> None:
    inits = [file for file in path.glob("__init__.*") if file.suffix == ".py" or file.suffix in _EXTENSIONS]
    if inits:
        regular.setdefault(path.name, min(inits))
    elif any(path.glob("*.py")) or any(path.glob("*/__init__.py")):
        namespaces.setdefault(path.name, path)
