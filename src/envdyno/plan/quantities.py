"""Quantities as people write them: durations and numbers of pairs."""

from __future__ import annotations

import math
import re
import sys
from typing import NamedTuple

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_DURATION = re.compile(
    r"\s*" + r"\s*".join(rf"(?:({_NUMBER})\s*{unit})?" for unit in ("h", "m(?:in)?", "s", "ms")) + r"\s*",
    re.IGNORECASE | re.ASCII,
)
_UNITS_S = (3600.0, 60.0, 1.0, 1e-3)
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

    Units may stand together from the largest to the smallest, each once; ``m`` and ``min`` are minutes.

    Returns:
        Seconds, 0 or more.

    Raises:
        ValueError: it is neither, or negative, or not finite.
    """
    seconds: int | float
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = value
    else:
        seconds = _read_duration(str(value))
    # The largest float: a whole number may be larger still.
    if not 0 <= seconds <= sys.float_info.max:
        raise ValueError(f"{value!r} is no length of time; write seconds, or e.g. 90s, 20m, 1h30m.")
    return float(seconds)


def parse_positive_duration(value: object) -> float:
    """Read a duration that has to be longer than nothing.

    Raises:
        ValueError: as :func:`parse_duration`, or it is 0.
    """
    seconds = parse_duration(value)
    if seconds == 0:
        raise ValueError(f"{value!r} is no length of time; write more than 0 seconds, e.g. 90s, 20m, 1h30m.")
    return seconds


def _read_duration(text: str) -> float:
    """Return the seconds of a text; NaN where it is none."""
    if re.fullmatch(rf"\s*{_NUMBER}\s*", text, re.ASCII):
        return float(text)
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()):
        return math.nan
    return sum(float(part) * unit for part, unit in zip(found.groups(), _UNITS_S, strict=True) if part)


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
