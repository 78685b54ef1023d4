"""The list of workloads: what each is, and whether what it needs is installed."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from envdyno.agent.workloads.registration import Naming, Reach, Registration
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


def list_entry(registration: Registration) -> ListEntry:
    """Look up what a workload needs, without importing it."""
    found: dict[str, str] = {}
    missing = []
    for name in registration.requires:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    target = ":TARGET" if registration.naming is Naming.PREFIX else ""
    return ListEntry(
        name=registration.name + target,
        group=registration.group or "other",
        summary=registration.summary,
        found=found,
        missing=tuple(missing),
        install=registration.install,
        reach=registration.reach.value,
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
