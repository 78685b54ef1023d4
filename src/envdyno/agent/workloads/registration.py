"""One registered name: what it stands for, what it needs, and what it can tell. Imports no framework."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from envdyno.agent.workloads.requirement import Requirement


class Naming(str, Enum):
    """Whether a registered name stands for one workload or for a family."""

    EXACT = "exact"
    PREFIX = "prefix"
    """Written ``name:target``; the factory gets ``target`` as an option."""
    BY_FACTORY = "by_factory"
    """Either, as the factory takes ``target`` or does not: known once it is imported."""


class Reach(str, Enum):
    """How far an adapter has been proven."""

    TESTED = "tested"
    STAND_IN = "stand_in"
    """Tested against a stand-in with the same interface, not on the real thing."""


class Tells(str, Enum):
    """What a workload can tell of its work, beside its transitions."""

    RESETS = "resets"
    EPISODE_LENGTHS = "episode lengths"
    REWARDS = "rewards"
    SUBSTEPS = "substeps"
    SIMULATED_TIME = "simulated time"
    UNSTABLE_ROWS = "unstable rows"
    PHASES = "phases"
    CONTACTS = "contacts"
    INSIDE_COUNT = "a count of its own for check"


class Told(NamedTuple):
    """One thing that a workload tells."""

    what: Tells
    where: str = ""
    """Of which targets it is told, or what it is made of; empty where it is told of all."""


@dataclass(frozen=True)
class Registration:
    """One registered name."""

    name: str
    factory: str
    """``module:attribute`` of the factory."""
    summary: str
    naming: Naming = Naming.EXACT
    requires: tuple[Requirement, ...] = ()
    """What the workload imports; an adapter's framework first."""
    install: str = ""
    """What to type when one of them is missing or too old."""
    reach: Reach = Reach.TESTED
    group: str = ""
    """Heading under which it is listed."""
    tells: tuple[Told, ...] = ()
    """What it can tell; empty where nobody has said."""
    limits: tuple[str, ...] = ()
    """What it cannot do, and what distorts its figures, as sentences."""
    example: str = ""
    """Arguments of a first ``envdyno run``."""
