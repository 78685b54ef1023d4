"""``envdyno show``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="BUNDLE|RECORDS")
@click.option("--width", type=click.IntRange(min=40), help="Characters in a line.  [default: the terminal's]")
def show(source: Path, width: int | None) -> int:
    """Show a bundle, a packed bundle or a file of records: figures first, what to doubt last.

    Needs no colour and no more than 80 columns; a terminal that knows ASCII only gets ASCII.
    """
    with refusing():
        from envdyno.cli.show_verbs import show_source

        return show_source(source, width)
