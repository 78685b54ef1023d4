"""The list of workloads: what each is, and whether what it needs is installed."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from envdyno.agent.workloads.registration import Naming, Reach, Registration, Tells
from envdyno.report.columns import aligned


@dataclass(frozen=True)
class ListEntry:
    """One workload of the list."""

    name: str
    group: str
    summary: str
    found: dict[str, str]
    """Distributions that it needs and that are installed, with their versions."""
    missing: tuple[str, ...]
    install: str
    reach: str
    tells: tuple[str, ...] = ()
    not_told: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    example: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)

    @property
    def state(self) -> str:
        """Return in words whether it can run."""
        if self.missing:
            return f"missing {', '.join(self.missing)}: {self.install}"
        stand_in = " (not run on the real thing)" if self.reach == Reach.STAND_IN.value else ""
        versions = ", ".join(f"{name} {version}" for name, version in self.found.items())
        return f"{versions or 'ready'}{stand_in}"


def installed_here(name: str) -> str | None:
    """Return the version of a distribution in this interpreter; ``None`` where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def installed_in(versions: Mapping[str, str]) -> Callable[[str], str | None]:
    """Return the same for another interpreter, from its versions by canonical name (PEP 503)."""
    return lambda name: versions.get(re.sub(r"[-_.]+", "-", name).lower())


def list_entry(
    registration: Registration, version_of: Callable[[str], str | None] = installed_here
) -> ListEntry:
    """Look up what a workload needs, without importing it."""
    versions = {name: version_of(name) for name in registration.requires}
    found = {name: version for name, version in versions.items() if version is not None}
    missing = [name for name, version in versions.items() if version is None]
    target = ":TARGET" if registration.naming is Naming.PREFIX else ""
    return ListEntry(
        name=registration.name + target,
        group=registration.group or "other",
        summary=registration.summary,
        found=found,
        missing=tuple(missing),
        install=registration.install,
        reach=registration.reach.value,
        tells=tuple(one.value for one in registration.tells),
        not_told=tuple(one.value for one in Tells if registration.tells and one not in registration.tells),
        limits=registration.limits,
        example=registration.example,
    )


def list_lines(entries: Sequence[ListEntry]) -> list[str]:
    """Return the list as text, a heading for each group; groups in the order of their first members."""
    groups: dict[str, list[ListEntry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.group == "other"):
        groups.setdefault(entry.group, []).append(entry)
    lines: list[str] = []
    for group, members in groups.items():
        lines += ["", f"{group}:"] if lines else [f"{group}:"]
        rows = [(entry.name, entry.summary, entry.state) for entry in members]
        lines += [f"  {line}" for line in aligned(rows)]
    return [*lines, "", "Your own: envdyno run module:attribute, a factory called with num_envs and seed."]


def verbose_lines(entries: Sequence[ListEntry]) -> list[str]:
    """Return everything that is known of each workload."""
    lines: list[str] = []
    for entry in entries:
        facts = list(_facts(entry))
        lines += ["", entry.name] if lines else [entry.name]
        lines += [f"  {line}" for line in aligned(facts)]
    return lines


def _facts(entry: ListEntry) -> Iterator[tuple[str, str]]:
    yield "what", entry.summary
    versions = ", ".join(f"{name} {version}" for name, version in entry.found.items())
    if entry.missing:
        yield "missing", f"{', '.join(entry.missing)}: {entry.install}"
    if versions or not entry.missing:
        yield "found", versions or "nothing else is needed"
    if entry.reach == Reach.STAND_IN.value:
        yield "proven", "against a stand-in with the same interface; not run on the real thing"
    if entry.tells:
        yield "tells", ", ".join(entry.tells)
        yield "does not tell", ", ".join(entry.not_told) or "nothing is missing"
    for index, limit in enumerate(entry.limits):
        yield "" if index else "limits", limit
    if entry.example:
        yield "try", f"envdyno run {entry.example}"
