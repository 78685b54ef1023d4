"""Probes: time a callable of the code under test as a phase, without a change to its files.

:func:`install` replaces the callable where it lives, in this process only, by one that enters the phase and
calls the original; :meth:`InstalledProbes.uninstall` puts back exactly what was there. Nothing is replaced
unless a probe was asked for, and the agent installs probes in attribution runs only.

**When.** Probes are installed after placement and before the workload's own module is imported, by importing
the module that the probe names. So code that says ``from engine import step`` later gets the timed one.
Modules that had imported the function by name earlier are found and given the timed one too.

**What cannot be seen.** Calls through a reference that was stored elsewhere before: in an object, a list, a
closure, a default argument, a ``functools.partial``, a bound method kept by an instance. Calls from compiled
code (C, numba, a traced or compiled graph), which do not look the name up. Calls on a subclass that overrides
the method without calling it. Such a probe does not fire, and a probe that did not fire is reported as
``not_instrumented``, never as 0.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from envdyno.agent.measure.phases import Phase
from envdyno.agent.measure.probe_target import Binding, Probe, ProbeError, Target, find_target


@dataclass(frozen=True)
class _Replacement:
    """One attribute that was replaced: what was stored there, and what is now."""

    owner: Any
    name: str
    before: Any
    own: bool
    """Whether the owner itself stored it; if not, it is deleted again, and inherited as before."""
    now: Any


@dataclass
class InstalledProbes:
    """Probes that are in place."""

    probes: tuple[Probe, ...]
    rebound: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By probe target: other names under which modules held the same function, replaced as well."""
    _replaced: list[_Replacement] = field(default_factory=list)

    @property
    def phase_names(self) -> tuple[str, ...]:
        """Names of the probed phases. Those without a total did not fire: they are ``not_instrumented``."""
        return tuple(dict.fromkeys(probe.phase for probe in self.probes))

    def uninstall(self) -> tuple[str, ...]:
        """Put back what was there; return a sentence for each attribute that someone else replaced since.

        Such an attribute is left alone, for putting back the original would take the other's change away.
        """
        kept = []
        for replaced in reversed(self._replaced):
            if _stored(replaced.owner, replaced.name) is not replaced.now:
                kept.append(
                    f"{_name_of(replaced.owner)}.{replaced.name} was replaced again after the probe was "
                    "installed; it was left as it is."
                )
            elif replaced.own:
                setattr(replaced.owner, replaced.name, replaced.before)
            else:
                delattr(replaced.owner, replaced.name)
        self._replaced.clear()
        return tuple(kept)


def install(probes: Iterable[Probe]) -> InstalledProbes:
    """Replace the callables that the probes name. All are installed, or none.

    Raises:
        ProbeError: a probe cannot be installed, or two name the same callable.
        Exception: whatever a probed module raises when it is imported.
    """
    wanted = tuple(probes)
    _refuse_doubles(wanted)
    installed = InstalledProbes(wanted)
    try:
        for probe in wanted:
            _install_one(probe, find_target(probe), installed)
    except BaseException:
        installed.uninstall()
        raise
    return installed


@contextmanager
def probed(probes: Iterable[Probe]) -> Iterator[InstalledProbes]:
    """Probes in place for the length of a ``with`` block."""
    installed = install(probes)
    try:
        yield installed
    finally:
        installed.uninstall()


def _install_one(probe: Probe, target: Target, installed: InstalledProbes) -> None:
    timed = _timed(Phase(probe.phase), target)
    _replace(probe, target, timed, installed)
    if isinstance(target.owner, types.ModuleType):
        names = []
        for module, name in _other_bindings(target):
            copy = Target(module, name, target.raw, Binding.PLAIN, own=True)
            _replace(probe, copy, timed, installed)
            names.append(f"{module.__name__}:{name}")
        installed.rebound[probe.target] = tuple(names)


def _timed(phase: Phase, target: Target) -> Any:
    """What goes in the place of the target's stored attribute."""
    raw = target.raw
    if target.binding is Binding.CLASS:
        return classmethod(_wrap(phase, raw.__func__))
    if target.binding is Binding.STATIC:
        return staticmethod(_wrap(phase, raw.__func__ if isinstance(raw, staticmethod) else raw))
    if target.binding is Binding.METHOD and not isinstance(raw, types.FunctionType):
        return _wrap_descriptor(phase, raw)
    if target.binding is Binding.PLAIN and not isinstance(
        raw, (types.FunctionType, types.BuiltinFunctionType)
    ):
        return TimedCallable(phase, raw)
    return _wrap(phase, raw)


def _wrap(phase: Phase, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with phase:
            return function(*args, **kwargs)

    return timed


def _wrap_descriptor(phase: Phase, raw: Any) -> Callable[..., Any]:
    """For methods that are no Python functions: of C classes, partial methods, compiled ones."""
    bind = type(raw).__get__

    @functools.wraps(raw, updated=())
    def timed(self: Any, *args: Any, **kwargs: Any) -> Any:
        with phase:
            return bind(raw, self, type(self))(*args, **kwargs)

    return timed


class TimedCallable:
    """Stands for a callable object, e.g. a cached or a compiled function; its attributes stay reachable."""

    def __init__(self, phase: Phase, wrapped: Any) -> None:
        """Time the calls of ``wrapped`` as ``phase``."""
        self._phase = phase
        self.__wrapped__ = wrapped

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the wrapped object inside the phase."""
        with self._phase:
            return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


def _replace(probe: Probe, target: Target, timed: Any, installed: InstalledProbes) -> None:
    before = _stored(target.owner, target.name)
    try:
        vars(target.owner)  # what has no attributes of its own cannot be put back exactly
        setattr(target.owner, target.name, timed)
    except (AttributeError, TypeError) as error:
        raise ProbeError(
            f"The probe {str(probe)!r} cannot be installed: {_name_of(target.owner)} lets nobody replace "
            f"{target.name!r} ({error}). Name the Python function that calls it."
        ) from error
    installed._replaced.append(_Replacement(target.owner, target.name, before, target.own, timed))


def _other_bindings(target: Target) -> list[tuple[types.ModuleType, str]]:
    """Other global names of loaded modules that hold the very same function."""
    found = []
    for module in list(sys.modules.values()):
        for name, value in list(_own_attributes(module).items()):
            if value is target.raw and not (module is target.owner and name == target.name):
                found.append((module, name))
    return found


def _own_attributes(owner: Any) -> Mapping[str, Any]:
    try:  # past the owner's own __getattribute__, which loads a lazy module
        held: Mapping[str, Any] = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return held


def _stored(owner: Any, name: str) -> Any:
    attributes = (
        type.__dict__["__dict__"].__get__(owner) if isinstance(owner, type) else _own_attributes(owner)
    )
    return attributes.get(name)


def _refuse_doubles(probes: tuple[Probe, ...]) -> None:
    seen: dict[str, Probe] = {}
    for probe in probes:
        if (other := seen.setdefault(probe.target, probe)) is not probe:
            raise ProbeError(
                f"Two probes name {probe.target!r}, as the phases {other.phase!r} and {probe.phase!r}. "
                "Its time can be one phase only."
            )


def _name_of(owner: Any) -> str:
    return getattr(owner, "__qualname__", None) or getattr(owner, "__name__", None) or repr(owner)
