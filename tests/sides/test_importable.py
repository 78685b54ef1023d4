"""What a folder offers to the import system, found as the import system finds it."""

from __future__ import annotations

import importlib.machinery
from pathlib import Path

from envdyno.sides.importable import importable_modules


def lay(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text("")
    return root


def test_packages_modules_and_extensions_are_found(tmp_path: Path) -> None:
    lay(tmp_path, "pkg/__init__.py", "one.py", "fast.cpython-311-x86_64-linux-gnu.so", "space/inner.py")
    found = importable_modules([tmp_path])
    assert found == {
        "pkg": tmp_path / "pkg" / "__init__.py",
        "one": tmp_path / "one.py",
        "fast": tmp_path / "fast.cpython-311-x86_64-linux-gnu.so",
        "space": tmp_path / "space",
    }


def test_what_cannot_be_imported_is_left_out(tmp_path: Path) -> None:
    lay(
        tmp_path, "not-a-name.py", "empty/", "docs/a.md", "setup.py", "conftest.py", "README.md", ".hidden.py"
    )
    assert importable_modules([tmp_path, tmp_path / "absent"]) == {}


def test_a_regular_package_in_a_later_folder_beats_a_folder_without_init(tmp_path: Path) -> None:
    lay(tmp_path, "first/pkg/left.py", "second/pkg/__init__.py", "first/one.py", "second/one.py")
    folders = [tmp_path / "first", tmp_path / "second"]
    found = importable_modules(folders)
    assert found["pkg"] == tmp_path / "second" / "pkg" / "__init__.py"
    for name, path in found.items():
        spec = importlib.machinery.PathFinder.find_spec(name, [str(folder) for folder in folders])
        assert spec is not None
        assert spec.origin == str(path)
