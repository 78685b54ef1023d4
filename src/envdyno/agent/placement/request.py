"""What the user asks for: ``--numa``, ``--workers-per-node``, ``--cpus``, ``--smt``, ``--mem``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.wire import Wire


class Smt(str, Enum):
    """Whether the threads of one core are all used."""

    ON = "on"
    """Use every CPU."""
    OFF = "off"
    """Use one CPU of each core."""


class Scope(str, Enum):
    """What gets a worker of its own."""

    AUTO = "auto"
    """Every usable node."""
    OFF = "off"
    """The whole machine, unbound."""
    NODES = "nodes"
    """The nodes in a list."""
    GPU = "gpu"
    """The node that is local to a GPU."""
    PER_L3 = "per-l3"
    """Every level-3 cache."""
    PER_CLASS = "per-class"
    """Every kind of core within a node (performance, efficiency)."""


@dataclass(frozen=True)
class Numa(Wire):
    """A parsed ``--numa``."""

    scope: Scope
    nodes: tuple[int, ...] = ()
    """For NODES, the ids as asked."""
    gpu: str | None = None
    """For GPU, a number or a PCI address."""


@dataclass(frozen=True)
class Request(Wire):
    """A wish for placements, as the command line takes it."""

    numa: str = "auto"
    """``auto``, ``off``, a list of nodes, ``gpu:K``, ``per-l3`` or ``per-class``."""
    workers_per_node: int = 1
    cpus: tuple[int, ...] | None = None
    """Use these CPUs only; None for all that are allowed and not isolated."""
    smt: Smt = Smt.ON
    memory: MemoryPolicy = MemoryPolicy.BIND
    threads: int | None = None
    """Size of each worker's thread pools; None for as many as it has CPUs, cut to its share of the quota."""


def parse_numa(text: str) -> Numa:
    """Read the value of ``--numa``.

    Raises:
        PlacementError: When it is none of the forms.
    """
    word = text.strip().lower()
    for scope in (Scope.AUTO, Scope.OFF, Scope.PER_L3, Scope.PER_CLASS):
        if word == scope.value:
            return Numa(scope)
    if word.startswith("gpu:") and word[4:].strip():
        return Numa(Scope.GPU, gpu=word[4:].strip())
    nodes = _node_list(word)
    if nodes:
        return Numa(Scope.NODES, nodes=nodes)
    raise PlacementError(
        f"--numa {text!r} is not known; "
        "use auto, off, a list of nodes such as 0,1, gpu:K, per-l3 or per-class."
    )


def _node_list(word: str) -> tuple[int, ...]:
    """The ids in a list; none when it is no list."""
    try:
        return parse_cpulist(word)
    except PlacementError:
        return ()
