"""Where output for people goes, with colour only on a terminal, and in ASCII where the encoding needs it."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from envdyno.report.glyphs import glyphs_for


def stderr_console() -> Console:
    """Return the console for people, on stderr."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def stdout_line(text: str) -> None:
    """Write one line for people to stdout, in characters that its encoding has."""
    click.echo(glyphs_for(sys.stdout.encoding).fit(text))
