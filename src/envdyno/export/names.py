"""Names of cases and sides for other tools: one line, nothing in it that steers a terminal or a page."""

from __future__ import annotations

import hashlib

from envdyno.record.printable import printable

HASH_DIGITS = 8


def plain_name(text: str) -> str:
    """Return ``text`` on one line, with characters that cannot be seen written out.

    Control characters, line separators and characters that change the writing direction are written as
    escapes, so that no name reads otherwise than it is.
    """
    return printable(text.replace("\t", " ")) or "(no name)"


def short_name(text: str, limit: int) -> str:
    """Return ``text`` in at most ``limit`` bytes of UTF-8; what is cut off is stood for by its hash.

    Names that differ stay different, and equal names equal, from one export to the next.
    """
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    mark = f"~{hashlib.sha256(data).hexdigest()[:HASH_DIGITS]}"
    return data[: limit - len(mark)].decode("utf-8", "ignore") + mark
