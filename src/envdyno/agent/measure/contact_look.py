"""Looking at a workload's contacts, outside the timed span."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def look_at_contacts(contacts_now: Callable[[], Any] | None) -> dict[str, int] | None:
    """Return contacts, and the rows that were looked at, in plain JSON types; ``None`` where not told.

    Args:
        contacts_now: part of the workload, returns a ``ContactSample`` or another pair of numbers.

    Raises:
        ValueError: what it returned cannot be.
    """
    found = None if contacts_now is None else contacts_now()
    if found is None:
        return None
    contacts, rows = map(int, found)
    if contacts < 0 or rows < 1:
        raise ValueError(
            f"The workload's contacts_now() says that it found {contacts} contacts in {rows} rows; it has to "
            "look at one row or more, or return None."
        )
    return {"contacts": contacts, "rows": rows}
