"""What is wrong with a plan, as sentences."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from envdyno.plan.usage_error import UsageError

_TABLE = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]?\]\s*(#.*)?$")


class PlanError(UsageError):
    """A plan that cannot be used. All that is wrong with it is named at once."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        """Take the place that the plan came from, and one sentence a problem."""
        self.problems = tuple(problems)
        if len(self.problems) == 1:
            text = f"{source}: {self.problems[0]}"
        else:
            text = f"{source} has {len(self.problems)} problems:\n" + "\n".join(
                f"    {problem}" for problem in self.problems
            )
        super().__init__(text)


def sentences(error: ValidationError, model: type[BaseModel], text: str | None = None) -> list[str]:
    """Turn a validation error into one sentence a problem, with its line in ``text`` if that is found."""
    found: list[str] = []
    for fault in error.errors(include_url=False):
        place = tuple(part for part in fault["loc"] if not _is_branch(part))
        line = line_of(text, place) if text else None
        where = f"line {line}: " if line else ""
        found.append(where + _sentence(fault, place, model))
    return list(dict.fromkeys(found))


def line_of(text: str, place: Sequence[Any]) -> int | None:
    """Return the number of the line that sets ``place`` in a TOML text; good for ordinary layouts."""
    names = [str(part) for part in place if not isinstance(part, int)]
    if not names:
        return None
    wanted_index = next((part for part in place if isinstance(part, int)), 0)
    table: list[str] = []
    seen = -1
    table_line = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = _TABLE.match(line)
        if header:
            table = _split(header.group(1))
            if table == names[: len(table)]:
                seen += 1
                if not line.lstrip().startswith("[[") or seen == wanted_index:
                    table_line = number
            continue
        key, separator, _ = line.partition("=")
        if not separator or (table_line is None and table):
            continue
        path = table + _split(key)
        if path == names[: len(path)] and len(path) > len(table):
            return number
    return table_line


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint such as `` Did you mean `pairs`?``, or nothing when no known name is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean `{near[0]}`?" if near else ""


def _sentence(fault: Mapping[str, Any], place: tuple[Any, ...], model: type[BaseModel]) -> str:
    dotted = ".".join(str(part) for part in place) or "the plan"
    if fault["type"] == "extra_forbidden":
        known = _known_names(model, place[:-1])
        hint = nearest(str(place[-1]), known)
        section = ".".join(str(part) for part in place[:-1])
        within = f"[{section}]" if section else "a plan"
        return f"`{place[-1]}` is not a key of {within}.{hint} Known keys: {', '.join(known)}."
    if fault["type"] == "missing":
        return f"`{dotted}` is missing."
    if fault["type"] in ("value_error", "assertion_error"):
        return f"{dotted}: {fault['ctx']['error']}"
    message = str(fault["msg"])
    return f"`{dotted}` is {fault['input']!r}, but {message[0].lower()}{message[1:]}."


def _known_names(model: type[BaseModel], place: Sequence[Any]) -> list[str]:
    """Return the keys that may stand at ``place``, following the models down."""
    current: type[BaseModel] | None = model
    for part in place:
        if current is None:
            return []
        field = current.model_fields.get(str(part))
        if field is not None:
            current = _model_in(field.annotation)
    return sorted(current.model_fields) if current else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Find the model inside ``dict[str, X]``, ``tuple[X, ...]`` or ``X | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_in(argument)
        if found is not None:
            return found
    return None


def _is_branch(part: Any) -> bool:
    """Whether pydantic put this into a location to tell branches of a union apart."""
    return isinstance(part, str) and ("[" in part or part in _BRANCHES)


_BRANCHES = frozenset({"int", "float", "str", "bool", "constrained-int", "constrained-str"})


def _split(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in re.findall(r'"[^"]*"|\'[^\']*\'|[^.]+', dotted)]
