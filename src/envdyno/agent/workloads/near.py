"""Names near to one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SHOWN = 3
_CUTOFF = 0.6
"""Ratio of :func:`difflib.get_close_matches`, its own default: below it, what is found only confuses."""


def near_names(name: str, known: Iterable[str], cutoff: float = _CUTOFF) -> list[str]:
    """Return the known names that are most like ``name``, the most like first; letter case does not count."""
    by_lower: dict[str, str] = {}
    for one in known:
        by_lower.setdefault(one.lower(), one)
    near = difflib.get_close_matches(name.lower(), by_lower, n=_SHOWN, cutoff=cutoff)
    return [by_lower[one] for one in near]


def did_you_mean(name: str, known: Iterable[str], suffix: str = "") -> str:
    """Return `` Did you mean A or B?`` with a space before it; empty where nothing is near.

    Args:
        name: what was written.
        known: what could have been meant.
        suffix: follows each proposal, and is not compared.
    """
    near = [f"{one}{suffix}" for one in near_names(name, known)]
    return f" Did you mean {' or '.join(near)}?" if near else ""
