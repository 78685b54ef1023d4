"""Quantities as people write them: durations and numbers of pairs."""

from __future__ import annotations

import re
from typing import NamedTuple

_PARTS = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(h|ms|min|m|s)?", re.IGNORECASE)
_SECONDS = {"h": 3600.0, "min": 60.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
FEWEST_PAIRS = 3
"""With fewer, no interval can be given that deserves the name."""
USUAL_PAIRS = 6
MOST_PAIRS = 1000


class PairRange(NamedTuple):
    """How many pairs a case gets."""

    minimum: int
    maximum: int

    def __str__(self) -> str:
        return str(self.minimum) if self.minimum == self.maximum else f"{self.minimum}..{self.maximum}"


def parse_duration(value: object) -> float:
    """Read a duration: a number of seconds, or text such as ``20m``, ``1h30m``, ``90s``, ``500ms``.

    Raises:
        ValueError: it is neither, or not longer than nothing.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value)
    else:
        seconds = _read_duration(str(value).strip())
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{value!r} is no length of time; write seconds, or e.g. 90s, 20m, 1h30m.")
    return seconds


def _read_duration(text: str) -> float:
    total, position = 0.0, 0
    for part in _PARTS.finditer(text):
        if part.start() != position:
            return 0.0
        total += float(part.group(1)) * _SECONDS[(part.group(2) or "s").lower()]
        position = part.end()
    return total if position == len(text) else 0.0


def format_duration(seconds: float) -> str:
    """Write a duration with its two largest units: ``1 h 30 min``, ``42 s``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    minutes = whole % 3600 // 60
    return f"{whole // 3600} h {minutes} min" if minutes else f"{whole // 3600} h"


def parse_pairs(value: object) -> PairRange:
    """Read a number of pairs: ``6``, or a range such as ``3..12``.

    Raises:
        ValueError: it is neither, less than 3, or ends before it begins.
    """
    found = re.fullmatch(r"(\d+)(?:\s*\.\.\s*(\d+))?", str(value).strip())
    if found is None or isinstance(value, (bool, float)):
        raise ValueError(f"{value!r} is no number of pairs; write e.g. 6, or 3..12 to go on while undecided.")
    minimum = int(found.group(1))
    maximum = int(found.group(2) or minimum)
    if maximum < minimum:
        raise ValueError(f"{value!r} ends before it begins; write {maximum}..{minimum}.")
    if minimum < FEWEST_PAIRS:
        raise ValueError(
            f"{minimum} pairs are too few; at least {FEWEST_PAIRS} are needed to tell noise from a change."
        )
    if maximum > MOST_PAIRS:
        raise ValueError(f"{maximum} pairs are more than the {MOST_PAIRS} that an experiment may have.")
    return PairRange(minimum, maximum)
