"""One registered name: what it stands for, and what it needs. Imports nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Naming(str, Enum):
    """Whether a registered name stands for one workload or for a family."""

    EXACT = "exact"
    PREFIX = "prefix"
    """Written ``name:target``; the factory gets ``target`` as an option."""


class Reach(str, Enum):
    """How far an adapter has been proven."""

    TESTED = "tested"
    STAND_IN = "stand_in"
    """Tested against a stand-in with the same interface, not on the real thing."""


@dataclass(frozen=True)
class Registration:
    """One registered name."""

    name: str
    factory: str
    """``module:attribute`` of the factory."""
    summary: str
    naming: Naming = Naming.EXACT
    requires: tuple[str, ...] = ()
    """Distributions that the workload imports."""
    install: str = ""
    """What to type when one of them is missing."""
    reach: Reach = Reach.TESTED
    group: str = ""
    """Heading under which it is listed."""
