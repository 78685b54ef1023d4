"""Names of workloads, and how a name becomes a factory.

A name is one of

- a registered name, built in or from an entry point of the group ``envdyno.workloads``;
- a registered prefix and a target, ``gymnasium:Ant-v5``, for adapters that open a whole family;
- ``module:attribute``, any importable factory.

Listing and checking names imports nothing but the standard library; only :func:`load_factory` imports
the workload's module.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from envdyno.agent.workloads.cause import in_a_line
from envdyno.agent.workloads.entry_points import ENTRY_POINT_GROUP, installed
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.registration import Naming, Registration, Tells, Told

RESERVED = frozenset({"num_envs", "seed", "context", "target"})
"""Parameters of a factory that are no options of the user's."""


@dataclass(frozen=True)
class Resolved:
    """What a name means."""

    name: str
    factory: str
    registration: Registration | None = None
    target: str | None = None


class WorkloadError(ValueError):
    """The workload cannot be had as asked; the text is a sentence for the user."""


SYNTHETIC = Registration(
    "synthetic",
    "envdyno.agent.workloads.synthetic:build",
    "settable step time, noise, drift, resets and faults; measures envdyno itself",
    group="built in",
    tells=tuple(
        map(
            Told,
            (Tells.RESETS, Tells.REWARDS, Tells.SUBSTEPS, Tells.SIMULATED_TIME, Tells.UNSTABLE_ROWS),
        )
    ),
    limits=("With step_ms=0 it does nothing and tells nothing.",),
    example="synthetic -o step_ms=5 -o noise=0.02 --num-envs 64",
)


def built_in() -> tuple[Registration, ...]:
    """Return what comes with envdyno, in the order in which it is listed."""
    from envdyno.agent.workloads.catalogue import ADAPTERS
    from envdyno.suite.catalogue import SUITE
    from envdyno.suite.collectors.catalogue import COLLECTORS

    return (*COLLECTORS, *SUITE, *ADAPTERS, SYNTHETIC)


def registrations() -> dict[str, Registration]:
    """Return every registered name of this interpreter; built-in names cannot be taken over."""
    return {entry.name: entry for entry in (*installed(), *built_in())}


def resolve(name: str) -> Resolved:
    """Return what ``name`` means.

    Raises:
        WorkloadError: the name is not registered and is no ``module:attribute``.
    """
    if "lambda" in name.split() or name.startswith("<"):
        raise WorkloadError(
            f"{name!r} is not the name of a factory. Workers are fresh processes and import the factory by "
            "name: put it into a module with def, and give it as module:attribute."
        )
    known = registrations()
    if (entry := known.get(name)) is not None and entry.naming is not Naming.PREFIX:
        return Resolved(name, entry.factory, entry)
    prefix, colon, target = name.partition(":")
    family = known.get(prefix)
    if family is not None and family.naming is not Naming.EXACT:
        if not target:
            raise WorkloadError(
                f"{prefix!r} opens a family of environments: say which one, as {prefix}:NAME."
            )
        return Resolved(name, family.factory, family, target)
    if colon and _is_dotted(prefix) and _is_dotted(target):
        return Resolved(name, name)
    raise WorkloadError(_unknown(name, known))


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _unknown(name: str, known: Mapping[str, Registration]) -> str:
    return (
        f"There is no workload named {name!r}: none that comes with envdyno, and {sys.executable} has no "
        f"entry point of that name (group {ENTRY_POINT_GROUP}).{_near(name, known)} `envdyno list` shows the "
        "names; your own factory is given as module:attribute."
    )


def load_factory(resolved: Resolved) -> Callable[..., Any]:
    """Import the factory of a workload and return it.

    Raises:
        WorkloadError: its module or attribute does not exist or fails when it is imported, or it is no
            named callable.
    """
    module_name, _, attribute = resolved.factory.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise WorkloadError(_missing_module(resolved, module_name, error)) from error
    except (Exception, SystemExit) as error:
        raise WorkloadError(
            f"{resolved.name!r} cannot be had: importing the module {module_name!r} fails with "
            f"{in_a_line(error)}."
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise WorkloadError(
                f"The module {module_name!r} has no attribute {attribute!r} (asked for as {resolved.name!r})."
            )
        found = getattr(found, part)
    if not callable(found):
        raise WorkloadError(
            f"{resolved.factory!r} is a {type(found).__name__}, not a factory: "
            "it has to be callable with num_envs and seed."
        )
    if getattr(found, "__name__", "") == "<lambda>":
        raise WorkloadError(
            f"{resolved.factory!r} is a lambda. A factory needs a name, so that records and error messages "
            "can tell what was built: write it with def."
        )
    factory: Callable[..., Any] = found
    return factory


def _missing_module(resolved: Resolved, module_name: str, error: ModuleNotFoundError) -> str:
    missing = error.name or str(error)
    registration = resolved.registration
    if registration is not None and registration.install:
        return f"{resolved.name} needs the module {missing!r}, which is not installed: {registration.install}"
    if module_name == missing or module_name.startswith(missing + "."):
        return (
            f"There is no module {missing!r} to import {resolved.name!r} from{_nor_entry_point(resolved)}. "
            f"Workers look in the current folder and in the interpreter's installed packages."
            f"{_near_family(resolved)}"
        )
    return (
        f"{resolved.name!r} cannot be imported: its module {module_name!r} needs {missing!r}, "
        "which is not there."
    )


def _near(name: str, known: Mapping[str, Registration]) -> str:
    """Return names near to ``name``; of families, where it is written like a member of one."""
    prefix, colon, target = name.partition(":")
    if not colon:
        return did_you_mean(name, known)
    families = (one for one, entry in known.items() if entry.naming is not Naming.EXACT)
    return did_you_mean(prefix, families, f":{target}")


def _near_family(resolved: Resolved) -> str:
    return "" if resolved.registration is not None else _near(resolved.name, registrations())


def _nor_entry_point(resolved: Resolved) -> str:
    if resolved.registration is not None:
        return ""
    prefix = resolved.name.partition(":")[0]
    return f", and {sys.executable} has no entry point {prefix!r} of the group {ENTRY_POINT_GROUP}"


def call_factory(
    resolved: Resolved,
    factory: Callable[..., Any],
    *,
    num_envs: int,
    seed: int,
    options: Mapping[str, Any],
    context: Any,
) -> Any:
    """Call a factory with the options it knows; ``seed`` and ``context`` only where it takes them.

    Raises:
        WorkloadError: an option that the factory does not have, or that is not the user's to set.
        Exception: whatever the factory raises.
    """
    if taken := sorted(RESERVED & set(options)):
        raise WorkloadError(
            f"{', '.join(map(repr, taken))} cannot be given as an option of {resolved.name!r}: "
            "the batch is set by --num-envs and the seed by --seed, and the rest follows from the run."
        )
    arguments: dict[str, Any] = {"num_envs": num_envs, "seed": seed, **options}
    if resolved.target is not None:
        arguments["target"] = resolved.target
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return factory(**arguments)
    names = {
        name
        for name, parameter in parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if "context" in names:
        arguments["context"] = context
    if not takes_seed(factory):
        del arguments["seed"]
    unknown = sorted(set(arguments) - names)
    if unknown and not takes_any:
        raise WorkloadError(_unknown_options(resolved, unknown, names))
    return factory(**arguments)


def takes_seed(factory: Callable[..., Any]) -> bool:
    """Return whether a factory can be given the seed; many leave it to the reset of what they make."""
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return True
    seed = parameters.get("seed")
    if seed is not None and seed.kind is not seed.POSITIONAL_ONLY:
        return True
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


def seed_notes(factory: Any) -> tuple[str, ...]:
    """Return what whoever checks a workload should know of its factory and the seed."""
    if not callable(factory) or takes_seed(factory):
        return ()
    return ("the factory takes no seed: only a reset that takes one gets it",)


def _unknown_options(resolved: Resolved, unknown: list[str], names: set[str]) -> str:
    if "num_envs" in unknown:
        return (
            f"The factory of {resolved.name!r} takes no parameter num_envs: a factory is called with "
            "num_envs, and with seed where it takes one."
        )
    offered = sorted(names - RESERVED)
    has = f"It has: {', '.join(offered)}." if offered else "It has no options."
    near = "".join(did_you_mean(one, offered) for one in unknown)
    return f"{resolved.name!r} has no option {', '.join(map(repr, unknown))}. {has}{near}"
