"""Where output for people goes, with colour only on a terminal, and in ASCII where the encoding needs it."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from envdyno.record.printable import printable
from envdyno.report.glyphs import glyphs_for


def stderr_console() -> Console:
    """Return the console for people, on stderr."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def stdout_line(text: str) -> None:
    """Write one line for people to stdout; what its encoding cannot write is replaced."""
    encoding = sys.stdout.encoding or "ascii"
    fitting = glyphs_for(encoding).fit(printable(text))
    click.echo(fitting.encode(encoding, "replace").decode(encoding))
