"""The table ``[sweep]`` of a plan: a grid of batch sizes, workers a node and threads a worker."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from envdyno.plan.quantities import MOST_PAIRS
from envdyno.plan.sections import Section

AUTO: Literal["auto"] = "auto"
USUAL_REPEATS = 3
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def read_counts(value: Any) -> Any:
    """Read ``auto``, numbers, or text such as ``256,512`` and ``256..8192``: 256 doubled up to 8192.

    Raises:
        ValueError: a number is less than 1, stands there twice, or a range ends before it begins.
    """
    if isinstance(value, str):
        return AUTO if value.strip() == AUTO else _checked(_from_text(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return _checked([value])
    if isinstance(value, (list, tuple)):
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in value):
            raise ValueError(f"{value!r} is no list of whole numbers.")
        return _checked(list(value))
    return value


def doubled(first: int, last: int) -> list[int]:
    """Return ``first``, doubled again and again, and ``last`` at the end."""
    found = [first]
    while found[-1] * 2 < last:
        found.append(found[-1] * 2)
    return found if found[-1] == last else [*found, last]


def _from_text(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        span = _RANGE.fullmatch(part.strip())
        if span is not None:
            first, last = int(span.group(1)), int(span.group(2))
            if not 1 <= first <= last:
                raise ValueError(f"{part.strip()} is no range; it goes from at least 1 up, as 256..8192.")
            found += doubled(first, last)
        elif re.fullmatch(r"\s*\d+\s*", part, re.ASCII):
            found.append(int(part))
        else:
            raise ValueError(f"{text!r} is no list of numbers; write e.g. 256,512 or 256..8192, or auto.")
    return found


def _checked(numbers: list[int]) -> tuple[int, ...]:
    for number in numbers:
        if number < 1:
            raise ValueError(f"{number} was asked for; at least 1 is needed.")
    if not numbers or len(set(numbers)) != len(numbers):
        raise ValueError("a number stands there twice." if numbers else "there is no number.")
    return tuple(sorted(numbers))


Counts = Annotated[tuple[int, ...] | Literal["auto"], BeforeValidator(read_counts)]


class SweepSection(Section):
    """Which settings are measured, and how often each."""

    num_envs: Counts = Field(
        default=AUTO, description="total batch; auto: around the knee, found by scouting"
    )
    workers_per_node: Counts = Field(default=AUTO, description="auto: 1, and 2 where a node has two cores")
    threads: Counts = Field(default=AUTO, description="of each worker; auto: all its CPUs, and below")
    repeats: int = Field(default=USUAL_REPEATS, ge=1, le=MOST_PAIRS, description="runs of each setting")
