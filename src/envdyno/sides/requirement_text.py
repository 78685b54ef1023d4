"""Reading requirement files into one text that stands for itself.

Included files are put in place, relative paths become absolute, and what lies on this machine is hashed,
so that equal digests mean equal environments as far as the text can tell. The language is that of pip's
requirements files (https://pip.pypa.io/en/stable/reference/requirements-file-format/), which uv reads too.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.project import read_project
from envdyno.sides.request import Requirements

_COMMENT = re.compile(r"(^|\s+)#.*$")
_OPTION = re.compile(r"(--[A-Za-z-]+|-[A-Za-z])\s*=?\s*(.*)$")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_NOT_SOURCE = frozenset(
    {".git", "__pycache__", ".venv", "build", "dist", ".tox", ".mypy_cache", ".pytest_cache"}
)


@dataclass(frozen=True)
class RequirementText:
    """What an environment is asked to hold."""

    lines: tuple[str, ...]
    constraints: tuple[str, ...]
    local: tuple[tuple[str, str], ...]
    """Files and folders on this machine that the lines name, with a hash of their content."""
    names: tuple[str, ...]
    """Canonical names of the packages that are asked for by name."""

    @property
    def text(self) -> str:
        """For the record: one line each, without the credentials of index URLs."""
        lines = [*self.lines, *(f"-c {line}" for line in self.constraints)]
        return _CREDENTIALS.sub("", "\n".join(lines))

    @property
    def digest(self) -> str:
        """SHA-256 over lines, constraints and local content."""
        parts = [*self.lines, "-- constraints", *self.constraints, "-- local", *map(repr, self.local)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class _Reader:
    """Collects lines while files are followed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constraints: list[str] = []
        self.local: dict[str, str] = {}
        self.names: set[str] = set()
        self._open: list[Path] = []

    def read_file(self, path: Path, into: list[str]) -> None:
        """Read one file, and those that it includes."""
        if path in self._open:
            chain = " → ".join(str(one) for one in [*self._open, path])
            raise SideError(
                SideProblem.REQUIREMENTS, f"Requirement files include each other in a circle: {chain}."
            )
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SideError(
                SideProblem.REQUIREMENTS, f"The requirement file {path} cannot be read: {error}."
            ) from error
        self._open.append(path)
        for line in logical_lines(text):
            self.read_line(line, path.parent, into)
        self._open.pop()

    def read_line(self, line: str, directory: Path, into: list[str]) -> None:
        """Read one logical line whose relative paths start at ``directory``."""
        option = _OPTION.match(line)
        if option is None:
            into.append(self._requirement(line, directory))
            return
        name, value = option.group(1), option.group(2).strip().strip("\"'")
        if name in ("-r", "--requirement"):
            self.read_file(_path(value, directory), into)
        elif name in ("-c", "--constraint"):
            self.read_file(_path(value, directory), self.constraints)
        elif name in ("-e", "--editable"):
            raise SideError(
                SideProblem.REQUIREMENTS,
                f"The requirement `{line}` is an editable install: the side would run whatever is in that "
                "folder at the time. Name the folder without -e, or use `ref` and `pythonpath`.",
            )
        elif name in ("-f", "--find-links") and "://" not in value:
            folder = _path(value, directory)
            self.local[str(folder)] = _listing(folder)
            into.append(f"--find-links {folder}")
        else:
            into.append(line)

    def _requirement(self, line: str, directory: Path) -> str:
        bare = re.split(r"\s+--\w", line, maxsplit=1)[0].strip()
        try:
            requirement = Requirement(bare)
        except InvalidRequirement:
            return self._path_requirement(line, bare, directory)
        self.names.add(canonicalize_name(requirement.name))
        if requirement.url and requirement.url.startswith("file:"):
            self._note_local(Path(unquote(urlsplit(requirement.url).path)), line)
        return line

    def _path_requirement(self, line: str, bare: str, directory: Path) -> str:
        """Read a requirement that is a path or a URL: ``./x.whl``, ``file:///x``, ``../project[extra]``."""
        if "://" in bare and not bare.startswith("file:"):
            self._note_name(Path(unquote(urlsplit(bare).path)))
            return line
        place, extras = re.sub(r"\[[^\]]*\]$", "", bare), re.search(r"\[[^\]]*\]$", bare)
        path = Path(unquote(urlsplit(place).path)) if place.startswith("file:") else _path(place, directory)
        if not path.exists():
            raise SideError(
                SideProblem.REQUIREMENTS,
                f"`{line}` is neither a requirement such as `mujoco==3.3.0` nor a file or folder below "
                f"{directory}.",
            )
        self._note_local(path, line)
        return str(path) + (extras.group(0) if extras else "") + line[len(bare) :]

    def _note_local(self, path: Path, line: str) -> None:
        if not path.exists():
            raise SideError(
                SideProblem.REQUIREMENTS, f"The requirement `{line}` names {path}, which is not there."
            )
        self.local[str(path)] = content_hash(path)
        self._note_name(path)

    def _note_name(self, path: Path) -> None:
        if path.is_dir():
            project = read_project(path)
            if project is not None and project.name:
                self.names.add(project.name)
            return
        try:
            self.names.add(parse_wheel_filename(path.name)[0])
        except InvalidWheelFilename:
            try:
                self.names.add(parse_sdist_filename(path.name)[0])
            except InvalidSdistFilename:
                return


def read_requirements(requirements: Requirements, directory: Path) -> RequirementText:
    """Put all lines and files of ``requirements`` together; relative paths start at ``directory``.

    Raises:
        SideError: a file is missing or includes itself, or a line is an editable install or unreadable.
    """
    reader = _Reader()
    for path in requirements.files:
        reader.read_file(_path(str(path), directory), reader.lines)
    for line in logical_lines("\n".join(requirements.lines)):
        reader.read_line(line, directory, reader.lines)
    return RequirementText(
        lines=tuple(reader.lines),
        constraints=tuple(reader.constraints),
        local=tuple(sorted(reader.local.items())),
        names=tuple(sorted(reader.names)),
    )


def logical_lines(text: str) -> Iterator[str]:
    """Yield lines without comments, with continued lines joined, as pip reads them."""
    pending = ""
    for raw in text.splitlines():
        joined = pending + raw
        if raw.endswith("\\") and not _COMMENT.match(raw):
            pending = joined[:-1].rstrip() + " "
            continue
        pending = ""
        line = _COMMENT.sub("", joined).strip()
        if line:
            yield line
    if pending.strip():
        yield _COMMENT.sub("", pending).strip()


def content_hash(path: Path) -> str:
    """Return the SHA-256 of a file, or over the names and contents of a folder's files."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - _NOT_SOURCE)
        for name in sorted(names):
            file = Path(folder) / name
            if file.is_file():
                digest.update(file.relative_to(path).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _path(text: str, directory: Path) -> Path:
    return Path(os.path.normpath(directory / Path(text).expanduser()))


def _listing(folder: Path) -> str:
    """Hash names, sizes and times of a folder of wheels; their contents may be gigabytes."""
    if not folder.is_dir():
        raise SideError(SideProblem.REQUIREMENTS, f"--find-links names {folder}, which is not a folder.")
    facts = sorted((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in folder.iterdir())
    return hashlib.sha256(repr(facts).encode()).hexdigest()
