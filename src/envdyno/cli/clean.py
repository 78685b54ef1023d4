"""``envdyno clean``."""

from __future__ import annotations

import click

from envdyno.cli.refusal import refusing
from envdyno.cli.values import Duration


@click.command(context_settings={"show_default": True})
@click.option("--unused-for", type=Duration(), default="0s", help="Keep what was used within this time.")
def clean(unused_for: float) -> None:
    """Remove prepared sides: checkouts, environments and compiled code that no experiment is using."""
    with refusing():
        from envdyno.sides.cache_home import cache_home
        from envdyno.sides.clean_up import clean_up

        home = cache_home()
        done = clean_up(home.path, unused_for)
        for entry in done.in_use:
            click.echo(f"in use: {entry.path}")
        click.echo(f"Removed {len(done.removed)} of {len(done.removed) + len(done.in_use)} from {home.path}.")
