"""Short names for what the sides of an experiment are, made of what sets them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envdyno.sides.prepared import PreparedSide

LONGEST = 28


def side_labels(sides: Sequence[PreparedSide]) -> dict[str, str]:
    """Return a label for each side by its name: ``60c2ce7c``, ``runtime=direct``, ``mujoco==3.3.7``.

    Code and options come first, then requirements, variables and the interpreter, each only where the sides
    differ in it; equal sides, as of an A/A, get the first of these that they have.
    """
    columns = (
        [_code(side) for side in sides],
        _assigned([side.options for side in sides]),
        [_requirements(side) for side in sides],
        _assigned([side.identity.environ for side in sides]),
        [f"Python {side.identity.interpreter.version}" for side in sides],
    )
    telling = [column for column in columns if len(set(column)) > 1] or [
        next(column for column in columns if any(column))
    ]
    texts = (" ".join(filter(None, cells)) for cells in zip(*telling, strict=True))
    return {side.name: _short(text or "as it is") for side, text in zip(sides, texts, strict=True)}


def _code(side: PreparedSide) -> str:
    code = side.identity.code
    return "" if code is None else code.label


def _requirements(side: PreparedSide) -> str:
    lines = (line.strip() for line in (side.identity.requirements or "").splitlines())
    return ", ".join(line for line in lines if line and not line.startswith("#"))


def _assigned(sides: Sequence[Mapping[str, object]]) -> list[str]:
    """Return for each side the assignments that are not the same on all of them."""
    shared = set.intersection(*({(key, repr(value)) for key, value in side.items()} for side in sides))
    return [
        ", ".join(f"{key}={value}" for key, value in sorted(side.items()) if (key, repr(value)) not in shared)
        for side in sides
    ]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
