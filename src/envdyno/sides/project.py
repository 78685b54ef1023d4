"""What a source tree says of itself: its name, what it needs, what it was locked with.

Read from ``pyproject.toml`` (PEP 621), ``setup.cfg`` and ``uv.lock``. Metadata that only a build would
tell (``dynamic``) stays unknown.
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from envdyno.sides.toml_text import parse_toml


@dataclass(frozen=True)
class Project:
    """A source tree's own metadata."""

    name: str | None
    """Canonical name."""
    requires: tuple[str, ...] | None
    """Requirement strings; ``None`` when only a build would tell."""
    requires_python: str | None


def read_project(tree: Path) -> Project | None:
    """Read the metadata of the project with the root ``tree``; ``None`` when there is none to read."""
    table = _toml(tree / "pyproject.toml").get("project")
    if isinstance(table, dict):
        dynamic = table.get("dynamic") or []
        listed = None if "dependencies" in dynamic else tuple(map(str, table.get("dependencies") or ()))
        return Project(_canonical(table.get("name")), listed, table.get("requires-python"))
    return _from_setup_cfg(tree / "setup.cfg")


def read_lock(tree: Path) -> dict[str, frozenset[str]]:
    """Return the versions that ``uv.lock`` allows, by canonical name; empty without a lock."""
    locked: dict[str, set[str]] = {}
    for package in _toml(tree / "uv.lock").get("package") or ():
        name, version = _canonical(package.get("name")), package.get("version")
        if name and version and "registry" in (package.get("source") or {}):
            locked.setdefault(name, set()).add(version)
    return {name: frozenset(versions) for name, versions in locked.items()}


def _from_setup_cfg(path: Path) -> Project | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        if not parser.read(path, encoding="utf-8"):
            return None
    except (configparser.Error, UnicodeDecodeError):
        return None
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    listed = tuple(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
    directive = any(line.startswith(("file:", "attr:")) for line in listed)
    return Project(
        _canonical(parser.get("metadata", "name", fallback=None)),
        None if directive or not parser.has_option("options", "install_requires") else listed,
        parser.get("options", "python_requires", fallback=None),
    )


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _canonical(name: object) -> str | None:
    return canonicalize_name(name) if isinstance(name, str) and name else None
