"""Options whose value is a member of an enumeration."""

from __future__ import annotations

from enum import Enum

import click


def one_of(kind: type[Enum]) -> click.Choice[str]:
    """Return the type of an option that takes the value of any member of ``kind``."""
    return click.Choice([member.value for member in kind])
