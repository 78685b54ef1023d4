"""What is wrong with a record, in a few words for a person."""

from __future__ import annotations

from pydantic import ValidationError


def fault_text(error: Exception) -> str:
    """Return the first thing that is wrong; a list of all fields that do not fit helps nobody."""
    if not isinstance(error, ValidationError):
        return str(error)
    first, *more = error.errors(include_url=False, include_input=False)
    place = ".".join(map(str, first["loc"])) or "the record"
    rest = f" (and {len(more)} more faults)" if more else ""
    return f"{place}: {first['msg']}{rest}."
