"""What a probe names: ``physics=package.module:Class.method``.

A probe is written ``PHASE=MODULE:ATTRIBUTE``, where the attribute may be dotted. :func:`parse_probe` reads
it, :func:`find_target` imports the module and finds the callable, or says why it cannot be timed.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from dataclasses import dataclass
from enum import Enum
from typing import Any

_EXAMPLE = "Write it as PHASE=MODULE:ATTRIBUTE, for example physics=package.engine:Engine.step."


class ProbeError(ValueError):
    """A probe cannot be read or installed; the text is a sentence for the user."""


@dataclass(frozen=True)
class Probe:
    """One callable to time, and the name of the phase that its calls are."""

    phase: str
    module: str
    attribute: str
    """Dotted path inside the module, e.g. ``Engine.step``."""

    @property
    def target(self) -> str:
        """The callable, as the user wrote it."""
        return f"{self.module}:{self.attribute}"

    def __str__(self) -> str:
        return f"{self.phase}={self.target}"


class Binding(str, Enum):
    """How Python binds the callable when it is called through its owner."""

    PLAIN = "plain"
    """An attribute of a module or an object: called with the caller's arguments."""
    METHOD = "method"
    """An attribute of a class that becomes a method of the instance."""
    STATIC = "static"
    """An attribute of a class that is called without the instance."""
    CLASS = "class"
    """A class method."""


@dataclass(frozen=True)
class Target:
    """The callable that a probe names, and where it lives."""

    owner: Any
    """Module, class or object that holds the attribute."""
    name: str
    raw: Any
    """The attribute as it is stored, before Python binds it."""
    binding: Binding
    own: bool
    """Whether the owner itself stores it, or has it from a base class or its own class."""


def parse_probe(text: str) -> Probe:
    """Read one probe.

    Raises:
        ProbeError: the text has another form.
    """
    phase, equals, target = (part.strip() for part in text.partition("="))
    if not equals:
        raise ProbeError(f"The probe {text!r} names no phase: it has no '='. {_EXAMPLE}")
    if not phase or "/" in phase:
        raise ProbeError(
            f"The probe {text!r} needs the name of a phase before '=', without '/', and has {phase!r}. "
            + _EXAMPLE
        )
    module, colon, attribute = (part.strip() for part in target.partition(":"))
    if not colon or not attribute:
        raise ProbeError(
            f"The probe {text!r} does not say which part of {target or 'which module'!r} to time. {_EXAMPLE}"
        )
    for what, dotted in (("module", module), ("attribute", attribute)):
        if not all(part.isidentifier() for part in dotted.split(".")):
            raise ProbeError(
                f"The probe {text!r} has {dotted!r} as its {what}, which is no Python name. {_EXAMPLE}"
            )
    return Probe(phase, module, attribute)


def find_target(probe: Probe) -> Target:
    """Import the probe's module and find what it names.

    Raises:
        ProbeError: it does not exist, or it is nothing that can be timed by calling it.
    """
    try:
        owner: Any = importlib.import_module(probe.module)
    except ModuleNotFoundError as error:
        raise ProbeError(
            f"The probe {str(probe)!r} cannot be installed: there is no module "
            f"{error.name or probe.module!r}. Give the module as the workload imports it."
        ) from error
    *owners, name = probe.attribute.split(".")
    for step in owners:
        owner = _attribute(probe, owner, step)
    bound = _attribute(probe, owner, name)
    if isinstance(owner, type):
        raw = inspect.getattr_static(owner, name)
        binding = _class_binding(probe, raw)
    else:
        raw, binding = bound, Binding.PLAIN
    _refuse_untimeable(probe, raw, bound)
    own = name in getattr(owner, "__dict__", {})
    return Target(owner, name, raw, binding, own)


def _attribute(probe: Probe, owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        where = getattr(owner, "__qualname__", None) or getattr(owner, "__name__", None) or repr(owner)
        raise ProbeError(
            f"The probe {str(probe)!r} cannot be installed: {where} has no attribute {name!r}."
        ) from None


def _class_binding(probe: Probe, raw: Any) -> Binding:
    if isinstance(raw, (property, functools.cached_property)) or inspect.isdatadescriptor(raw):
        raise ProbeError(
            f"The probe {str(probe)!r} names a property. A probe times calls, and a property is not called: "
            "name the method that does its work, or the one that reads it."
        )
    if isinstance(raw, staticmethod):
        return Binding.STATIC
    if isinstance(raw, classmethod):
        return Binding.CLASS
    return Binding.METHOD if hasattr(type(raw), "__get__") else Binding.STATIC


def _refuse_untimeable(probe: Probe, raw: Any, bound: Any) -> None:
    function = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
    if isinstance(function, type):
        raise ProbeError(
            f"The probe {str(probe)!r} names a class. Name a method of it; {probe.attribute}.__init__ times "
            "how its objects are built."
        )
    if not callable(bound):
        raise ProbeError(
            f"The probe {str(probe)!r} names an object of type {type(function).__name__}, which cannot be "
            "called, so there is nothing to time."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        kind = "a generator function"
    elif inspect.iscoroutinefunction(function):
        kind = "a coroutine function"
    else:
        return
    raise ProbeError(
        f"The probe {str(probe)!r} names {kind}: calling it runs none of its body. "
        "Name a function that it calls."
    )
