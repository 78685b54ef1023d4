"""Importing the framework that an adapter steps, with one clear message where it cannot be had."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from dataclasses import dataclass
from typing import Any

from envdyno.agent.workloads.catalogue import ADAPTERS
from envdyno.agent.workloads.cause import in_a_line
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.requirement import Requirement


@dataclass(frozen=True)
class Framework:
    """The packages that an adapter steps: what to import, how old they may be, how to get them."""

    adapter: str
    """Name under which the adapter is registered."""
    module: str
    requires: tuple[Requirement, ...]
    """The framework itself first."""
    install: str
    """What to type when one of them is missing or too old."""

    @classmethod
    def of(cls, adapter: str, module: str) -> Framework:
        """Return what a built-in adapter steps, as it is registered, so that `list` and runs agree."""
        (found,) = (entry for entry in ADAPTERS if entry.name == adapter)
        return cls(adapter, module, found.requires, found.install)

    @property
    def distribution(self) -> str:
        """Name of the framework's own distribution."""
        return self.requires[0].distribution

    def load(self, module: str = "") -> Any:
        """Import and return the framework, or one of its modules.

        Raises:
            WorkloadError: it is not installed, too old, or fails when it is imported.
        """
        name = module or self.module
        self._refuse_old()
        version = self.version()
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
        return _installed(self.distribution)

    def _refuse_old(self) -> None:
        for needed in self.requires:
            version = _installed(needed.distribution)
            if version is not None and needed.is_too_old(version):
                raise WorkloadError(
                    f"{self.adapter} needs {needed.distribution} {needed.at_least} or newer, and {version} "
                    f"is installed for {sys.executable}: {self.install}"
                )

    def _missing(self, name: str, version: str | None) -> str:
        if version is None:
            return (
                f"{self.adapter} needs {self.distribution}, which is not installed for {sys.executable}: "
                f"{self.install}"
            )
        return (
            f"{self.adapter} needs the module {name!r}, which {self.distribution} {version} does not have. "
            f"The adapter knows {self.distribution} {self.requires[0].at_least or 'as documented'} and "
            f"newer: {self.install}"
        )

    def _broken(self, name: str, version: str | None, error: Exception) -> str:
        return (
            f"{self.distribution} {version or '(version unknown)'} is installed for {sys.executable}, but "
            f"importing {name!r} fails with {in_a_line(error)}. It has to be repaired there; envdyno is not "
            "involved."
        )


def import_user_module(adapter: str, module: str) -> Any:
    """Import a module of the user's that registers environments.

    Raises:
        WorkloadError: there is no such module, or it fails when it is imported.
    """
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and (module == missing or module.startswith(missing + ".")):
            raise WorkloadError(
                f"{adapter} was asked to import {module!r} first, and there is no module {missing!r}. "
                "Workers look in the current folder and in the interpreter's installed packages."
            ) from error
        raise WorkloadError(
            f"{adapter} was asked to import {module!r} first, which fails with {in_a_line(error)}."
        ) from error


def split_target(target: str) -> tuple[str | None, str]:
    """Return the module and the name of a target written ``module:name``, or no module and the target."""
    module, colon, name = target.partition(":")
    return (module, name) if colon else (None, target)


def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
