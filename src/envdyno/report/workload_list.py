"""The list of workloads: what each is, and whether what it needs is installed."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from envdyno.agent.workloads.registration import Naming, Reach, Registration, Tells
from envdyno.report.sentences import finished, wrapped

WIDTH = 80
"""Columns, where there is no terminal that says."""
DETAIL = "    "
TYPED = frozenset({"install", "try"})
"""Facts that are lines to be typed, and therefore never folded."""
OWN = "Your own: envdyno run module:attribute, a factory called with num_envs and seed."


@dataclass(frozen=True)
class ListEntry:
    """One workload of the list."""

    name: str
    group: str
    summary: str
    found: dict[str, str]
    """Distributions that it needs and that are installed, with their versions."""
    missing: tuple[str, ...]
    too_old: dict[str, str]
    """Those of :attr:`found` that come before the oldest version that is known, with that version."""
    install: str
    reach: str
    broken: str = ""
    """Why it cannot be imported, where that was tried."""
    tells: dict[str, str] = field(default_factory=dict)
    """What it tells, and of which targets or in which parts; empty where it is told of all."""
    not_told: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    example: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)

    @property
    def problem(self) -> str:
        """Return in words why it cannot run; empty where nothing stands in the way."""
        if self.broken:
            return f"broken: {self.broken}"
        old = [f"{name} {self.found[name]} is too old" for name in self.too_old]
        missing = [f"missing {', '.join(self.missing)}"] if self.missing else []
        return ", ".join([*missing, *old])

    @property
    def remedy(self) -> str:
        """Return what to type so that it can run; empty where nothing is known to help."""
        return self.install if self.missing or self.too_old else ""

    @property
    def condition(self) -> str:
        """Return in words whether it can run, without the remedy."""
        versions = ", ".join(f"{name} {version}" for name, version in self.found.items())
        stand_in = " (not run on the real thing)" if self.reach == Reach.STAND_IN.value else ""
        return f"{self.problem or versions or 'ready'}{stand_in}"

    @property
    def state(self) -> str:
        """Return in words whether it can run, and what to type where it cannot."""
        return f"{self.condition}: {self.remedy}" if self.remedy else self.condition


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
    registration: Registration,
    version_of: Callable[[str], str | None] = installed_here,
    broken: str = "",
) -> ListEntry:
    """Look up what a workload needs, without importing it.

    Args:
        registration: the workload.
        version_of: returns the installed version of a distribution.
        broken: why it cannot be imported, where somebody has tried.
    """
    versions = {one: version_of(one.distribution) for one in registration.requires}
    found = {one.distribution: version for one, version in versions.items() if version is not None}
    old = [one for one, version in versions.items() if version is not None and one.is_too_old(version)]
    told = {one.what: one.where for one in registration.tells}
    target = ":TARGET" if registration.naming is Naming.PREFIX else ""
    return ListEntry(
        name=registration.name + target,
        group=registration.group or "other",
        summary=registration.summary,
        found=found,
        missing=tuple(one.distribution for one, version in versions.items() if version is None),
        too_old={one.distribution: one.at_least for one in old},
        install=registration.install,
        reach=registration.reach.value,
        broken=broken,
        tells={what.value: where for what, where in told.items()},
        not_told=tuple(one.value for one in Tells if told and one not in told),
        limits=registration.limits,
        example=registration.example,
    )


def list_lines(entries: Sequence[ListEntry], width: int = WIDTH) -> list[str]:
    """Return the list as text, a heading for each group; groups in the order of their first members."""
    groups: dict[str, list[ListEntry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.group == "other"):
        groups.setdefault(entry.group, []).append(entry)
    lines: list[str] = []
    for group, members in groups.items():
        lines += ["", f"{group}:"] if lines else [f"{group}:"]
        for entry in members:
            lines += _entry_lines(entry, max(len(member.name) for member in members), width)
    return [*lines, "", *wrapped(OWN, width)]


def _entry_lines(entry: ListEntry, column: int, width: int) -> Iterator[str]:
    """Yield the name with its state where both fit into a line, and the summary below."""
    together = f"  {entry.name.ljust(column)}  {entry.state}"
    summary = _detail(entry.summary, width)
    if len(together) <= width:
        yield together
        yield from summary
        return
    yield f"  {entry.name}"
    yield from summary
    yield from _state_lines(entry.condition, entry.remedy, width)


def _state_lines(condition: str, remedy: str, width: int) -> list[str]:
    """Return a state; what is to be typed stays in one line, so that it can be copied."""
    together = f"{DETAIL}{condition}: {remedy}"
    if not remedy:
        return _detail(condition, width)
    return [together] if len(together) <= width else [*_detail(f"{condition}:", width), f"{DETAIL}{remedy}"]


def _detail(text: str, width: int) -> list[str]:
    return [f"{DETAIL}{line.strip()}" for line in wrapped(text, width - len(DETAIL))]


def verbose_lines(entries: Sequence[ListEntry], width: int = WIDTH) -> list[str]:
    """Return everything that is known of each workload."""
    lines: list[str] = []
    for entry in entries:
        facts = list(_facts(entry))
        column = max(len(key) for key, _ in facts)
        lines += ["", entry.name] if lines else [entry.name]
        for key, value in facts:
            lines += _fact_lines(key.ljust(column), value, width)
    return lines


def _fact_lines(key: str, value: str, width: int) -> Iterator[str]:
    if key.strip() in TYPED and len(key) + len(value) + 4 > width:
        yield f"  {key.rstrip()}"
        yield f"{DETAIL}{value}"
        return
    folded = [value] if key.strip() in TYPED else wrapped(value, width - len(key) - 4)
    for index, line in enumerate(folded):
        yield f"  {' ' * len(key) if index else key}  {line.strip()}".rstrip()


def _facts(entry: ListEntry) -> Iterator[tuple[str, str]]:
    yield "what", entry.summary
    if entry.broken:
        yield "broken", finished(entry.broken)
    if entry.missing:
        yield "missing", ", ".join(entry.missing)
    for name, oldest in entry.too_old.items():
        yield "too old", f"{name} {entry.found[name]}; {oldest} or newer is needed"
    if entry.remedy:
        yield "install", entry.remedy
    versions = ", ".join(
        f"{name} {version}" for name, version in entry.found.items() if name not in entry.too_old
    )
    if versions or not entry.problem:
        yield "found", versions or "nothing else is needed"
    if entry.reach == Reach.STAND_IN.value:
        yield "proven", "against a stand-in with the same interface; not run on the real thing"
    if entry.tells:
        yield (
            "tells",
            ", ".join(f"{what} ({where})" if where else what for what, where in entry.tells.items()),
        )
        yield "does not tell", ", ".join(entry.not_told) or "nothing is missing"
    for index, limit in enumerate(entry.limits):
        yield "" if index else "limits", limit
    if entry.example:
        yield "try", f"envdyno run {entry.example}"
