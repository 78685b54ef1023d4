"""Choose placements on machines described in few words, and read the answer."""

from __future__ import annotations

from pathlib import Path

from machine_tree import Machine

from envdyno.agent.placement.choice import Choice, choose
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.notes import NoteKind
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import read_topology


def choose_on(machine: Machine, root: Path, **request: object) -> Choice:
    """What is chosen on a machine."""
    machine.build(root)
    return choose(read_topology(root), read_limits(root), Request(**request), environ={})  # type: ignore[arg-type]


def cpus_of(choice: Choice) -> list[tuple[int, ...]]:
    """CPUs of each worker."""
    return [placement.cpus for placement in choice.placements]


def notes_of(choice: Choice, kind: NoteKind) -> list[str]:
    """Messages of one kind."""
    return [note.message for note in choice.notes if note.kind is kind]
