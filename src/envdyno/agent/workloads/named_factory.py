"""From a name to its imported factory, which alone tells whether an entry point opens a family."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from envdyno.agent.workloads.entry_points import installed
from envdyno.agent.workloads.registration import Naming
from envdyno.agent.workloads.registry import Resolved, WorkloadError, load_factory, resolve


class Inspected(NamedTuple):
    """What is known of an entry point once somebody has tried to import it."""

    naming: Naming
    broken: str = ""
    """Why its factory cannot be had; empty where it can."""


def named_factory(name: str) -> tuple[Resolved, Callable[..., Any]]:
    """Import the factory that a name stands for.

    The name of an entry point opens a family where its factory has a parameter ``target``. Where it has none,
    ``name:rest`` is ``module:attribute``, for a package may well bear the name of its entry point.

    Raises:
        WorkloadError: there is no such workload, or it cannot be imported as named.
    """
    resolved = resolve(name)
    factory = load_factory(resolved)
    if resolved.registration is None or resolved.registration.naming is not Naming.BY_FACTORY:
        return resolved, factory
    target = _target(factory)
    if resolved.target is None:
        if target is not None and target.default is target.empty:
            raise WorkloadError(f"{name!r} opens a family of environments: say which one, as {name}:NAME.")
        return resolved, factory
    if target is not None:
        return resolved, factory
    own = Resolved(name, name)
    try:
        return own, load_factory(own)
    except WorkloadError as error:
        raise WorkloadError(
            f"{resolved.registration.name!r} is one workload and no family: its factory "
            f"{resolved.factory} has no parameter 'target', so that nothing can be asked of it after a colon."
        ) from error


def inspect_entry_point(name: str) -> Inspected:
    """Import the factory of an entry point, and return what it is, or why it cannot be had."""
    (entry, *_) = [entry for entry in installed() if entry.name == name]
    try:
        target = _target(load_factory(Resolved(name, entry.factory, entry)))
    except (Exception, SystemExit) as error:
        return Inspected(Naming.EXACT, str(error) or type(error).__name__)
    return Inspected(Naming.EXACT if target is None else Naming.PREFIX)


def _target(factory: Callable[..., Any]) -> inspect.Parameter | None:
    try:
        found = inspect.signature(factory).parameters.get("target")
    except (TypeError, ValueError):
        return None
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return found if found is not None and found.kind in named else None
