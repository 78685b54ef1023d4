"""Reading JSON as data: finite numbers, Unicode text, no duplicate keys, and bounded depth by the parser."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from pydantic_core import from_json, to_json


class NotStrictJson(ValueError):
    """The text is not JSON as RFC 8259 has it."""


def loads(text: str) -> Any:
    """Parse strict JSON.

    Raises:
        NotStrictJson: it is malformed, holds NaN, Infinity or a number beyond a double, or names a key twice.
    """
    try:
        # What a record was written with gives the same text again, and only then. So the text is strict: a
        # key that is there twice, or a number that is none, would not come back.
        value = from_json(text, allow_inf_nan=False)
        if to_json(value, inf_nan_mode="constants") == text.encode():
            return value
    except (ValueError, RecursionError):
        pass  # The parser that follows says why.
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite_float, object_pairs_hook=_unique)
    except NotStrictJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(f"This is not JSON: {error}.") from error


def _refuse(token: str) -> NoReturn:
    raise NotStrictJson(f"{token} is not JSON; a figure that is not there is null, with a reason.")


def _finite_float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise NotStrictJson(f"{digits} is beyond the largest number.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotStrictJson(f"An object names the key {twice!r} twice.")
    return result
