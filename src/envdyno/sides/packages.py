"""The packages that a side sees, and how those of two sides differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Distribution:
    """One installed distribution, as its metadata describes it."""

    name: str
    """Canonical name (PEP 503)."""
    version: str
    requires: tuple[str, ...]
    """``Requires-Dist`` entries (PEP 508)."""
    location: str
    """Folder that it is imported from."""
    source: str | None
    """Where it was installed from, if not an index: a URL with the commit, or a folder (PEP 610)."""
    editable: bool
    """Whether it is imported from somebody's source folder."""

    @property
    def label(self) -> str:
        """Version, and the source where that says more than the version."""
        return f"{self.version} ({self.source})" if self.source else self.version


@dataclass(frozen=True)
class PackageSet:
    """All distributions that an interpreter sees, first on the import path first."""

    distributions: Mapping[str, Distribution]
    """By canonical name."""
    markers: Mapping[str, str]
    """The environment for requirement markers (PEP 508)."""
    doubled: tuple[str, ...] = ()
    """Names that one folder holds metadata of twice, so that their version is not certain."""

    @property
    def versions(self) -> dict[str, str]:
        """Version by canonical name, sorted."""
        return {name: self.distributions[name].version for name in sorted(self.distributions)}

    @property
    def digest(self) -> str:
        """SHA-256 over names, versions and sources."""
        lines = [f"{name}=={self.distributions[name].label}" for name in sorted(self.distributions)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return what a record keeps."""
        special = [one for one in self.distributions.values() if one.source]
        return {
            "versions": self.versions,
            "sources": {one.name: one.source for one in sorted(special, key=lambda one: one.name)},
            "digest": self.digest,
            "doubled": list(self.doubled),
        }


_INSTALLERS = frozenset({"pip", "uv"})
"""Present in some environments for building them; no workload imports them."""


class Change(str, Enum):
    """How a package differs between two sides."""

    ADDED = "added"
    REMOVED = "removed"
    VERSION = "version"
    SOURCE = "source"
    """Same version, installed from elsewhere."""


class PackageDifference(NamedTuple):
    """One package that differs between two sides."""

    name: str
    first: str | None
    second: str | None
    change: Change

    def __str__(self) -> str:
        return f"{self.name} {self.first or 'absent'} → {self.second or 'absent'}"


def package_set(found: Sequence[Mapping[str, Any]], markers: Mapping[str, str]) -> PackageSet:
    """Read what the script in the side's interpreter found."""
    distributions: dict[str, Distribution] = {}
    doubled: set[str] = set()
    for item in found:
        one = _distribution(item)
        earlier = distributions.setdefault(one.name, one)
        if earlier is not one and earlier.location == one.location and earlier.version != one.version:
            doubled.add(one.name)
    return PackageSet(distributions, dict(markers), tuple(sorted(doubled)))


def package_differences(first: PackageSet, second: PackageSet) -> tuple[PackageDifference, ...]:
    """Compare two package sets by name, version and source, sorted by name."""
    names = sorted({*first.distributions, *second.distributions} - _INSTALLERS)
    pairs = ((name, first.distributions.get(name), second.distributions.get(name)) for name in names)
    return tuple(filter(None, (_difference(*pair) for pair in pairs)))


def undeclared(
    differences: Iterable[PackageDifference], declared: Iterable[str]
) -> tuple[PackageDifference, ...]:
    """Return the differences in packages that nothing declares to be meant."""
    meant = {canonicalize_name(name) for name in declared}
    return tuple(difference for difference in differences if difference.name not in meant)


def _distribution(item: Mapping[str, Any]) -> Distribution:
    direct = item.get("direct_url") or {}
    editable = bool((direct.get("dir_info") or {}).get("editable"))
    commit = (direct.get("vcs_info") or {}).get("commit_id")
    archive = (
        json.dumps((direct.get("archive_info") or {}).get("hashes") or {}) if "archive_info" in direct else ""
    )
    source = _without_credentials(direct.get("url") or "") or None
    if source and commit:
        source = f"{source}@{commit}"
    elif source and archive not in ("", "{}"):
        source = f"{source} {archive}"
    return Distribution(
        name=canonicalize_name(item["name"]),
        version=item["version"],
        requires=tuple(item["requires"]),
        location=item["location"],
        source=f"{source} (editable)" if editable else source,
        editable=editable,
    )


def _without_credentials(url: str) -> str:
    """Records are shared, so a token in a URL must not get into one."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _difference(
    name: str, first: Distribution | None, second: Distribution | None
) -> PackageDifference | None:
    if first is None or second is None:
        present = second or first
        assert present is not None
        change = Change.REMOVED if second is None else Change.ADDED
        return PackageDifference(
            name, first.label if first else None, second.label if second else None, change
        )
    if first.version != second.version:
        return PackageDifference(name, first.version, second.version, Change.VERSION)
    if first.source != second.source:
        return PackageDifference(name, first.label, second.label, Change.SOURCE)
    return None
