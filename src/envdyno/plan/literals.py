"""Values as people type them after ``key=``: JSON is what it is, and all else is text."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def parse_literal(text: str) -> Any:
    """Return JSON (a number, true, null, a list, a quoted text) as what it is, and all else as text.

    NaN, Infinity and numbers beyond a double are no JSON: they are text.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite_float)
    except (ValueError, RecursionError):
        return text


def literal(value: Any) -> str:
    """Return the text that :func:`parse_literal` reads as ``value``: plain for words, JSON for all else."""
    return value if isinstance(value, str) and parse_literal(value) == value else json.dumps(value)


def _refuse(token: str) -> NoReturn:
    raise ValueError(token)


def _finite_float(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)
