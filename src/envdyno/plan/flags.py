"""Flags that describe an experiment, turned into the tables of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envdyno.plan.literals import parse_literal
from envdyno.plan.plan_error import PlanError

WORKING_TREE = "working-tree"
CURRENT = "current"
"""The interpreter that envdyno runs in, with nothing changed."""

_LISTS = {
    "requirement": "requirements",
    "requirements": "requirements_file",
    "pythonpath": "pythonpath",
    "setup": "setup",
    "unset": "unset",
    "origin": "origins",
    "data": "data",
    "module": "modules",
}
"""Words before a colon in a side's part that may come more than once, and their keys in the plan."""
_SINGLE = {"ref": "ref", "python": "python", "repo": "repo", "cwd": "cwd"}


@dataclass(frozen=True)
class PlanFlags:
    """What the command line says of an experiment, as text.

    A side is given in parts, ``NAME=PART``, each adding to the side. A part is ``working-tree``, ``current``,
    a git ref, a path of an interpreter (beginning with ``/``, ``./``, ``../`` or ``~/``), or one of ``ref:``,
    ``python:``, ``repo:``, ``cwd:``, ``requirement:``, ``requirements:`` (a file), ``pythonpath:``,
    ``setup:``, ``unset:``, ``origin:``, ``data:``, ``module:`` followed by a value.
    """

    cases: tuple[str, ...] = ()
    base: str | None = None
    """A part for the side ``base``; with a base and no other side, the working tree is the side ``head``."""
    head: str | None = None
    sides: tuple[str, ...] = ()
    """``NAME=PART``."""
    options: tuple[str, ...] = ()
    """``NAME:key=value`` for one side, ``key=value`` for all."""
    env: tuple[str, ...] = ()
    """``NAME:VARIABLE=value``."""
    axes: tuple[str, ...] = ()
    """``key=value,value``."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys of the plan, such as ``experiment.pairs``, for flags that set one; ``None``: not given."""

    def tables(self) -> dict[str, Any]:
        """Return the tables of a plan that these flags make.

        Raises:
            PlanError: a flag cannot be read.
        """
        tables: dict[str, Any] = {}
        if self.cases:
            tables["experiment"] = {"cases": list(self.cases)}
        sides = self._sides()
        common = self._spread_options(sides)
        for text in self.env:
            name, key, value = _scoped(text, "--env", "NAME:VARIABLE=value")
            sides.setdefault(name, {}).setdefault("env", {})[key] = value
        if sides:
            tables["sides"] = sides
        if common:
            tables["options"] = common
        if self.axes:
            tables["axes"] = dict(map(_axis, self.axes))
        for dotted, value in self.settings.items():
            if value is not None:
                _set(tables, dotted.split("."), value)
        return tables

    def _sides(self) -> dict[str, dict[str, Any]]:
        sides: dict[str, dict[str, Any]] = {}
        for name, part in (("base", self.base), ("head", self.head)):
            if part is not None:
                _add_part(sides, name, part)
        for text in self.sides:
            name, separator, part = text.partition("=")
            if not separator or not name or not part:
                raise _bad(
                    f"--side {text} is not NAME=PART, such as --side new=dev or --side x={WORKING_TREE}."
                )
            _add_part(sides, name, part)
        if self.base is not None and len(sides) == 1:
            if self.settings.get("experiment.aa"):
                _add_part(sides, "again", self.base)
            else:
                _add_part(sides, "head", WORKING_TREE)
        return sides

    def _spread_options(self, sides: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Put options with a side's name to that side, and return those for all."""
        common: dict[str, Any] = {}
        for text in self.options:
            head, separator, value = text.partition("=")
            if not separator:
                raise _bad(f"--option {text} is not key=value or NAME:key=value.")
            name, colon, key = head.rpartition(":")
            into = sides.setdefault(name, {}).setdefault("options", {}) if colon else common
            if not key or key in into:
                fault = "names no option" if not key else f"gives {key} a second time"
                raise _bad(f"--option {text} {fault}.")
            into[key] = parse_literal(value)
        return common


def _add_part(sides: dict[str, dict[str, Any]], name: str, part: str) -> None:
    side = sides.setdefault(name, {})
    word, colon, value = part.partition(":")
    if part == CURRENT:
        return
    if part == WORKING_TREE:
        key, value = "working_tree", "true"
    elif colon and word in _LISTS:
        side.setdefault(_LISTS[word], []).append(value)
        return
    elif colon and word in _SINGLE:
        key = _SINGLE[word]
    elif part.startswith(("/", "./", "../", "~/")):
        key, value = "python", part
    else:
        key, value = "ref", part
    if key in side:
        raise _bad(f"--side {name}={part} gives the side a second {key}; it has {side[key]!r} already.")
    side[key] = True if key == "working_tree" else value


def _scoped(text: str, flag: str, form: str) -> tuple[str, str, str]:
    head, separator, value = text.partition("=")
    name, colon, key = head.partition(":")
    if not (separator and colon and name and key):
        raise _bad(f"{flag} {text} is not {form}.")
    return name, key, value


def _axis(text: str) -> tuple[str, list[Any]]:
    key, separator, values = text.partition("=")
    if not separator or not key or not values:
        raise _bad(f"--axis {text} is not key=value,value.")
    return key, [parse_literal(value) for value in values.split(",")]


def _set(tables: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for part in path[:-1]:
        tables = tables.setdefault(part, {})
    tables[path[-1]] = list(value) if isinstance(value, tuple) else value


def _bad(sentence: str) -> PlanError:
    return PlanError("The command line", [sentence])
