"""Whether a side has what its own metadata asks for.

A missing or older dependency often does not fail: the code takes a slow fallback, and the comparison
measures that. So it is named before anything is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envdyno.sides.packages import PackageSet
from envdyno.sides.project import read_lock, read_project

_LOWER_BOUNDS = frozenset({">=", ">", "~=", "==", "==="})


class Lack(str, Enum):
    """How an installed package falls short of a requirement."""

    MISSING = "missing"
    OLDER = "older"
    EXCLUDED = "excluded"
    """Newer than allowed, or ruled out."""
    NOT_AS_LOCKED = "not_as_locked"
    PYTHON = "python"


class DependencyFault(NamedTuple):
    """One requirement that is not met."""

    name: str
    """Canonical name of what is required."""
    installed: str | None
    requirement: str
    required_by: str
    lack: Lack

    def __str__(self) -> str:
        found = f"{self.name} {self.installed} is installed" if self.installed else f"{self.name} is missing"
        if self.lack is Lack.NOT_AS_LOCKED:
            return f"{found}, {self.required_by} has {self.requirement}"
        return f"{found}, {self.required_by} asks for {self.requirement}"


class DependencyFaults(NamedTuple):
    """What a side lacks, by whose word it is."""

    of_the_code: tuple[DependencyFault, ...]
    """By the source tree, and by the packages that the side declares: these stop an experiment."""
    of_others: tuple[DependencyFault, ...]
    """By other packages and by a lock file: these are told."""


def dependency_faults(
    packages: PackageSet, tree: Path | None, python_version: str, declared: Sequence[str] = ()
) -> DependencyFaults:
    """Check the requirements of the source tree and of every installed package.

    Args:
        packages: what the side sees.
        tree: the side's code, if it has any.
        python_version: of the side's interpreter.
        declared: canonical names of the packages that the side itself chose.
    """
    own: list[DependencyFault] = []
    if tree is not None:
        own += _project_faults(packages, tree, python_version)
    others: list[DependencyFault] = []
    for distribution in packages.distributions.values():
        into = own if distribution.name in declared else others
        label = f"{distribution.name} {distribution.version}"
        for text in distribution.requires:
            into += _unmet(text, label, packages)
    if tree is not None:
        others += _lock_faults(packages, tree)
    return DependencyFaults(tuple(dict.fromkeys(own)), tuple(dict.fromkeys(others)))


def _project_faults(packages: PackageSet, tree: Path, python_version: str) -> Iterator[DependencyFault]:
    project = read_project(tree)
    if project is None:
        return
    label = f"{project.name or tree.name} (pyproject.toml of the side)"
    if project.requires_python and not _allows(project.requires_python, python_version):
        yield DependencyFault("python", python_version, project.requires_python, label, Lack.PYTHON)
    for text in project.requires or ():
        yield from _unmet(text, label, packages)


def _unmet(text: str, required_by: str, packages: PackageSet, extra: str = "") -> Iterator[DependencyFault]:
    """Yield what is not met of one requirement, and of the extras that it asks of its package."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return  # old packages carry metadata that no tool can read
    if requirement.marker and not requirement.marker.evaluate({**packages.markers, "extra": extra}):
        return
    name = canonicalize_name(requirement.name)
    installed = packages.distributions.get(name)
    if installed is None:
        yield DependencyFault(name, None, _shown(requirement), required_by, Lack.MISSING)
        return
    lack = _compare(requirement.specifier, installed.version)
    if lack is not None:
        yield DependencyFault(name, installed.version, _shown(requirement), required_by, lack)
    for asked in requirement.extras:
        wanted_by = f"{name}[{asked}] {installed.version}"
        for inner in installed.requires:
            if "extra" in inner and asked != extra:
                yield from _only_extra(inner, wanted_by, packages, asked)


def _only_extra(text: str, required_by: str, packages: PackageSet, extra: str) -> Iterator[DependencyFault]:
    """Yield what is not met of a requirement that only the extra brings in."""
    try:
        marker = Requirement(text).marker
    except InvalidRequirement:
        return
    if marker is not None and not marker.evaluate({**packages.markers, "extra": ""}):
        yield from _unmet(text, required_by, packages, extra)


def _compare(specifiers: SpecifierSet, version: str) -> Lack | None:
    if not str(specifiers):
        return None
    try:
        installed = Version(version)
        if specifiers.contains(installed, prereleases=True):
            return None
        for specifier in specifiers:
            bound = specifier.version.removesuffix(".*")
            if specifier.operator in _LOWER_BOUNDS and installed < Version(bound):
                return Lack.OLDER
    except InvalidVersion:
        return None
    return Lack.EXCLUDED


def _lock_faults(packages: PackageSet, tree: Path) -> Iterator[DependencyFault]:
    for name, versions in sorted(read_lock(tree).items()):
        installed = packages.distributions.get(name)
        if installed is not None and installed.version not in versions:
            locked = " or ".join(sorted(versions))
            yield DependencyFault(name, installed.version, locked, "uv.lock of the side", Lack.NOT_AS_LOCKED)


def _allows(specifiers: str, version: str) -> bool:
    try:
        return SpecifierSet(specifiers).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


def _shown(requirement: Requirement) -> str:
    return str(requirement.specifier) or "any version"
