"""Names of cases as a tree, by the parts between their slashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Branch(NamedTuple):
    """One line of the tree."""

    depth: int
    text: str
    """Of a group, with a slash at its end; of a case, what is left of its name."""
    case: str | None
    """The whole name; ``None`` for a group."""


def case_tree(cases: Sequence[str]) -> tuple[Branch, ...]:
    """Return the lines of the tree; a group with one member is no group.

    Groups stand where their first case does, and cases keep their order within a group.
    """
    return tuple(_branches([(tuple(case.split("/")), case) for case in cases], 0))


def _branches(members: list[tuple[tuple[str, ...], str]], depth: int) -> Iterator[Branch]:
    groups: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for parts, case in members:
        groups.setdefault(parts[0], []).append((parts, case))
    for alike in groups.values():
        shared = _shared(alike)
        if len(alike) == 1 or not shared:
            yield from (Branch(depth, "/".join(parts), case) for parts, case in alike)
            continue
        yield Branch(depth, "/".join(alike[0][0][:shared]) + "/", None)
        yield from _branches([(parts[shared:], case) for parts, case in alike], depth + 1)


def _shared(members: list[tuple[tuple[str, ...], str]]) -> int:
    """Return how many first parts all members share; each keeps at least one of its own."""
    shortest = min(len(parts) for parts, _ in members) - 1
    shared = 0
    while shared < shortest and len({parts[shared] for parts, _ in members}) == 1:
        shared += 1
    return shared
