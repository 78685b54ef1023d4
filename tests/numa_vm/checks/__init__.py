"""What is checked inside the guests. A check is a function that raises when the machine says otherwise.

Each runs in a process of its own, as root, on the topologies that it names. Nothing here may import more
than the standard library: an emulated guest takes seconds over anything else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from topologies import Topology

Function = Callable[[Topology], None]


class SkippedError(Exception):
    """This guest lacks what the check is about; the message says what."""


@dataclass(frozen=True)
class Check:
    """One statement about placement, and how to test it on one topology."""

    statement: str
    topology: Topology
    run: Function
    limit_s: int

    @property
    def title(self) -> str:
        """Topology and statement: unique, and what the summary prints."""
        return f"{self.topology.name}: {self.statement}"


_registered: list[Check] = []


def check(*topologies: Topology, limit_s: int = 60) -> Callable[[Function], Function]:
    """Register a function as a check on each of these topologies; its name is the statement."""

    def register(function: Function) -> Function:
        statement = function.__name__.replace("_", " ")
        _registered.extend(Check(statement, topology, function, limit_s) for topology in topologies)
        return function

    return register


def load() -> tuple[Check, ...]:
    """Import every module of this folder; return all checks, those of one topology side by side."""
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    titles = [one.title for one in _registered]
    assert len(titles) == len(set(titles)), "two checks have the same name"
    return tuple(_registered)
