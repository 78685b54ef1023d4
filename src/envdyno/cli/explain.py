"""``envdyno explain``."""

from __future__ import annotations

import click

from envdyno.cli.refusal import Refusal


@click.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what a reason code means, and what would change it; without CODE, list all."""
    from envdyno.cli.console import stdout_line
    from envdyno.judge.reasons import ReasonCode
    from envdyno.judge.reasons import explain as look_up

    if code is None:
        for known in ReasonCode:
            stdout_line(f"{known.name}: {look_up(known).meaning}")
        return
    try:
        found = look_up(code)
    except ValueError as error:
        raise Refusal(str(error)) from error
    for line in (found.code.name, f"  {found.meaning}", f"  {found.what_would_change_it}"):
        stdout_line(line)
