"""Importing the framework that an adapter steps, with one clear message where it cannot be had."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from envdyno.agent.workloads.registry import WorkloadError


@dataclass(frozen=True)
class Framework:
    """A package that an adapter steps: what to import, how old it may be, how to get it."""

    adapter: str
    """Name under which the adapter is registered."""
    module: str
    distribution: str
    install: str
    """What to type when it is missing or too old."""
    at_least: str = ""
    """Oldest version whose behaviour the adapter knows."""

    def load(self, module: str = "") -> Any:
        """Import and return the framework, or one of its modules.

        Raises:
            WorkloadError: it is not installed, too old, or fails when it is imported.
        """
        name = module or self.module
        version = self.version()
        if version is not None and self.at_least and _numbers(version) < _numbers(self.at_least):
            raise WorkloadError(
                f"{self.adapter} needs {self.distribution} {self.at_least} or newer, and {version} is "
                f"installed for {sys.executable}: {self.install}"
            )
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
                raise WorkloadError(self._missing(name, version)) from error
            raise WorkloadError(self._broken(name, version, error)) from error
        except Exception as error:
            raise WorkloadError(self._broken(name, version, error)) from error

    def version(self) -> str | None:
        """Return the installed version; ``None`` where the distribution is not installed."""
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return None

    def _missing(self, name: str, version: str | None) -> str:
        if version is None:
            return (
                f"{self.adapter} needs {self.distribution}, which is not installed for {sys.executable}: "
                f"{self.install}"
            )
        return (
            f"{self.adapter} needs the module {name!r}, which {self.distribution} {version} does not have. "
            f"The adapter knows {self.distribution} {self.at_least or 'as documented'} and newer: "
            f"{self.install}"
        )

    def _broken(self, name: str, version: str | None, error: Exception) -> str:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return (
            f"{self.distribution} {version or '(version unknown)'} is installed for {sys.executable}, but "
            f"importing {name!r} fails with {type(error).__name__}: {error} "
            f"(at {where.filename}:{where.lineno}). It has to be repaired there; envdyno is not involved."
        )


def import_user_module(adapter: str, module: str) -> Any:
    """Import a module of the user's that registers environments.

    Raises:
        WorkloadError: there is no such module.
        Exception: whatever the module raises.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(error.name + ".")):
            raise
        raise WorkloadError(
            f"{adapter} was asked to import {module!r} first, and there is no module {error.name!r}. Workers "
            "look in the current folder and in the interpreter's installed packages."
        ) from error


def split_target(target: str) -> tuple[str | None, str]:
    """Return the module and the name of a target written ``module:name``, or no module and the target."""
    module, colon, name = target.partition(":")
    return (module, name) if colon else (None, target)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version, as PEP 440 orders them, without anything that follows."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    found = [int(part) for part in match[1].split(".")] if match else []
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)
