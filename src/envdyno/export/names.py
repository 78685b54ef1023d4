"""Names of cases and sides for other tools: one line, nothing in it that steers a terminal or a page."""

from __future__ import annotations

from envdyno.record.printable import printable


def plain_name(text: str) -> str:
    """Return ``text`` on one line, with characters that cannot be seen written out.

    Control characters, line separators and characters that change the writing direction are written as
    escapes, so that no name reads otherwise than it is.
    """
    return printable(text.replace("\t", " ")) or "(no name)"
