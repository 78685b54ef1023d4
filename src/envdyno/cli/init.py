"""``envdyno init``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import Refusal, refusing


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("envdyno.toml"))
def init(file: Path) -> None:
    """Write a commented plan for the repository in the current folder."""
    with refusing():
        from envdyno.plan.starter_plan import starter_plan

        text = starter_plan(Path.cwd())
        try:
            with file.open("x", encoding="utf-8") as out:
                out.write(text)
        except FileExistsError:
            raise Refusal(f"{file} is there already; name another file.") from None
        except OSError as error:
            raise Refusal(f"{file} cannot be written: {error.strerror}.") from error
        click.echo(f"Wrote {file}. `envdyno plan {file}` shows its runs.")
