"""Where human output goes: stderr, with colour only on a terminal, in ASCII where the encoding needs it."""

from __future__ import annotations

from rich.console import Console


def stderr_console() -> Console:
    """Return the console for people."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)
