"""Workloads that other distributions register by entry points. Imports nothing of theirs."""

from __future__ import annotations

import importlib.metadata

from envdyno.agent.workloads.registration import Naming, Registration

ENTRY_POINT_GROUP = "envdyno.workloads"


def installed() -> tuple[Registration, ...]:
    """Return what other distributions of this interpreter registered, by name.

    Whether a name opens a family is known once its factory is imported.
    """
    points = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    return tuple(_registration(point) for point in sorted(points, key=lambda point: point.name))


def _registration(point: importlib.metadata.EntryPoint) -> Registration:
    by = f"from {point.dist.name} {point.dist.version}" if point.dist else "from an entry point"
    return Registration(point.name, _factory(point), by, naming=Naming.BY_FACTORY, group="installed")


def _factory(point: importlib.metadata.EntryPoint) -> str:
    """Return ``module:attribute``; what is written in no such way stays as it is, to be named in an error."""
    try:
        return f"{point.module}:{point.attr}" if point.attr else point.value
    except AttributeError:
        return point.value
