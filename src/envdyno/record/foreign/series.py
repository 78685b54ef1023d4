"""What all formats are read into: the rates of one benchmark, one for each independent run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

__all__ = ["ForeignFormatError", "ForeignSeries", "facts", "rates_from_seconds", "text_at", "unix_time"]

Fact = float | int | str | bool | None


class ForeignFormatError(ValueError):
    """The document is not what its format says it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSeries:
    """One benchmark of one file."""

    tool: str
    name: str
    rates_per_s: tuple[float, ...]
    """Executions per second, one for each independent run, in the order of the file; larger is faster."""
    unit_of_repetition: str
    """What one rate stands for: a process, a repetition, a round."""
    failed: int = 0
    """Runs that the tool recorded as failed; they have no rate."""
    why_empty: str | None = None
    """Why there are no rates, and what to do about it, if there are none."""
    identity: Mapping[str, Fact] = field(default_factory=dict)
    """Facts that must be equal for two files to be comparable, as far as the file tells."""
    context: Mapping[str, Fact] = field(default_factory=dict)
    """Facts to be read with the figures."""
    measured_at_s: float | None = None
    """Unix time, if the file tells one with its offset from UTC."""


def facts(mapping: Any, names: Mapping[str, str]) -> dict[str, Fact]:
    """The plain facts of a mapping by our names for them; what is absent or is no plain value is left out.

    Args:
        mapping: a parsed object; anything else has no facts.
        names: the file's name for each of ours.
    """
    if not isinstance(mapping, Mapping):
        return {}
    found = ((ours, mapping.get(theirs)) for ours, theirs in names.items())
    return {name: value for name, value in found if isinstance(value, (str, int, float, bool))}


def rates_from_seconds(seconds: Any, where: str) -> tuple[float, ...]:
    """Invert times.

    Raises:
        ForeignFormatError: there is no list of times, or one is no positive finite number.
    """
    if not isinstance(seconds, list):
        raise ForeignFormatError(f"{where} has no list of times.")
    for value in seconds:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ForeignFormatError(f"{where} holds {value!r}, which is no time in seconds.")
        if not (math.isfinite(value) and value > 0):
            raise ForeignFormatError(f"{where} holds {value!r}; a time is positive and finite.")
    return tuple(1.0 / float(value) for value in seconds)


def text_at(mapping: Any, key: str, where: str) -> str:
    """A text that must be there.

    Raises:
        ForeignFormatError: it is not.
    """
    value = mapping.get(key) if isinstance(mapping, Mapping) else None
    if not isinstance(value, str):
        raise ForeignFormatError(f"{where} has no text {key!r}.")
    return value


def unix_time(text: Any) -> float | None:
    """Seconds since 1970 of an ISO 8601 time with an offset; one without it is no point in time: ``None``."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment.astimezone(timezone.utc).timestamp() if moment.tzinfo else None
