"""Sentences for a terminal: finished, and no wider than the screen."""

from __future__ import annotations

import textwrap

INDENT = "    "


def finished(text: str) -> str:
    """Return ``text`` with a full stop where it lacks one."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def wrapped(text: str, width: int) -> list[str]:
    """Return a text as lines of at most ``width`` characters, where its words allow it.

    Lines after the first are indented. What comes as several lines, such as the end of a log, stays so.
    """
    first, *rest = text.splitlines() or [""]
    lines = textwrap.wrap(
        first, width, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False
    )
    return [*(lines or [""]), *(f"{INDENT}{line.strip()}" for line in rest)]
