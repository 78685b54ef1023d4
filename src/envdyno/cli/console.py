"""Where output for people goes, with colour only on a terminal, and in ASCII where the encoding needs it."""

from __future__ import annotations

import shutil
import sys

import click
from rich.console import Console

from envdyno.report.glyphs import glyphs_for


class _LastingConsole(Console):
    """Falls silent when nobody reads it any more; whatever is measured goes on."""

    def on_broken_pipe(self) -> None:
        """Do not end the process, as Rich would, with the status that means a failed gate."""
        self.quiet = True


def stderr_console() -> Console:
    """Return the console for people, on stderr."""
    return _LastingConsole(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def screen_width() -> int | None:
    """Return the columns of the terminal that stdout is; ``None`` where it is none, and nothing is folded."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def stdout_line(text: str) -> None:
    """Write one line for people to stdout, in characters that its encoding has."""
    click.echo(glyphs_for(sys.stdout.encoding).fit(text))
