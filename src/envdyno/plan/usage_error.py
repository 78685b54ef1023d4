"""What a user asked for cannot be done."""

from __future__ import annotations


class UsageError(Exception):
    """Bad input. The text is one finished sentence or more: what was asked, what was found, what to do."""
