"""``envdyno history``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing


@click.command()
@click.argument(
    "sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR|BUNDLE|RECORDS..."
)
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page, one file.")
@click.option("--case", "cases", multiple=True, metavar="NAME", help="Only these cases.")
@click.option("--ratios", is_flag=True, help="Only ratios, no rates.")
def history(sources: tuple[Path, ...], html: Path | None, cases: tuple[str, ...], *, ratios: bool) -> int:
    """Show how ratios and rates went over many bundles, for each machine by itself.

    A folder that is no bundle stands for all bundles in it. Bundles that have nothing of a case are
    holes, and shown as such. Where a new level begins, the row says by how much it changed.
    """
    with refusing():
        from envdyno.cli.history_verbs import show_history

        return show_history(sources, html, cases, only_ratios=ratios)
