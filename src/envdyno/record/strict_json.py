"""Reading JSON as data: no NaN, no infinity, no duplicate keys, and bounded depth by the parser."""

from __future__ import annotations

import json
from typing import Any, NoReturn


class NotStrictJson(ValueError):
    """The text is not JSON as RFC 8259 has it."""


def loads(text: str) -> Any:
    """Parse strict JSON.

    Raises:
        NotStrictJson: it is malformed, holds NaN or Infinity, or names a key twice.
    """
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except NotStrictJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(f"This is not JSON: {error}.") from error


def _refuse(token: str) -> NoReturn:
    raise NotStrictJson(f"{token} is not JSON; a figure that is not there is null, with a reason.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotStrictJson(f"An object names the key {twice!r} twice.")
    return result
