"""The grid of a sweep: every combination, those that cannot be among them with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from envdyno.plan.sweep_section import AUTO, Counts, SweepSection, doubled
from envdyno.record.counted import counted
from envdyno.record.setting import Setting

AUTO_THREADS = 4
"""So many thread counts are tried by default: all CPUs of a worker, and the powers of two next below."""
AUTO_WORKERS = (1, 2)


class Room(NamedTuple):
    """What a number of workers a node gives on this machine."""

    workers: int
    """In all."""
    cpus: int
    """Of the worker that has the fewest; for unbound workers, all that they may use."""


Rooms = Mapping[int, Room | str]
"""By workers a node; a sentence where so many cannot be placed."""


class Impossible(NamedTuple):
    """A setting that cannot be, and why."""

    setting: Setting
    reason: str


@dataclass(frozen=True)
class Grid:
    """A full factorial grid."""

    settings: tuple[Setting, ...]
    impossible: tuple[Impossible, ...]


def workers_wanted(section: SweepSection) -> tuple[int, ...]:
    """Return the workers a node that a sweep asks about."""
    return AUTO_WORKERS if section.workers_per_node == AUTO else tuple(section.workers_per_node)


def usual_workers(section: SweepSection, rooms: Rooms) -> int:
    """Return the fewest workers a node that can be placed: scouting is done with these.

    Raises:
        ValueError: none can; the text says why.
    """
    for count in workers_wanted(section):
        if isinstance(rooms[count], Room):
            return count
    raise ValueError(" ".join(dict.fromkeys(str(room) for room in rooms.values())))


def scouting_threads(section: SweepSection, rooms: Rooms) -> int | None:
    """Return the threads of a scouting run: the most that are asked for and fit; ``None`` if none does."""
    room = rooms[usual_workers(section, rooms)]
    assert isinstance(room, Room)
    return max((count for count in _threads(section.threads, room) if count <= room.cpus), default=None)


def grid_of(section: SweepSection, num_envs: Sequence[int], rooms: Rooms) -> Grid:
    """Multiply batch sizes, workers and threads.

    What is left to ``auto`` asks for nothing that cannot be: there is no word about it.
    """
    found: list[Setting] = []
    impossible: list[Impossible] = []
    for workers in workers_wanted(section):
        room = rooms[workers]
        if isinstance(room, Room):
            for size, threads in product(num_envs, _threads(section.threads, room)):
                setting = Setting(size, workers, threads)
                reason = _why_not(setting, room)
                if reason is None:
                    found.append(setting)
                else:
                    impossible.append(Impossible(setting, reason))
        elif section.workers_per_node != AUTO:
            counts = (1,) if section.threads == AUTO else section.threads
            impossible += [
                Impossible(Setting(size, workers, int(count)), room)
                for size, count in product(num_envs, counts)
            ]
    return Grid(tuple(found), tuple(impossible))


def _why_not(setting: Setting, room: Room) -> str | None:
    workers = f"{counted(setting.workers_per_node, 'worker')} a node"
    if setting.threads > room.cpus:
        cpus = f"{counted(room.cpus, 'CPU')}"
        return f"{setting.threads} threads with {workers}: a worker has {cpus} there."
    if setting.num_envs < room.workers:
        envs = f"{counted(setting.num_envs, 'env')}"
        return f"{envs} with {workers}: there are {room.workers} workers, and each needs an environment."
    return None


def _threads(wanted: Counts, room: Room) -> tuple[int, ...]:
    return tuple(doubled(1, room.cpus)[-AUTO_THREADS:]) if wanted == AUTO else tuple(wanted)
