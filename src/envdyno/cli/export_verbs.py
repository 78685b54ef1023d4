"""What ``envdyno export`` does: read, judge, make the text, write it."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.exit_code import ExitCode
from envdyno.cli.text_output import write_text
from envdyno.experiment.material import opened
from envdyno.export.formats import FORMATS, of_side
from envdyno.export.series import series_of, without_figure
from envdyno.plan.usage_error import UsageError
from envdyno.record.printable import printable


def export_source(source: Path, name: str, out: Path | None, side: str | None) -> int:
    """Write one format; return the exit code.

    Raises:
        UsageError: there is no such side, or there is nothing to export.
    """
    with opened(source) as material:
        if side is not None:
            sides = [one.name for one in material.head.sides] if material.head else []
            if side not in sides:
                known = f"it has {', '.join(sides)}" if sides else "its records are of no experiment"
                raise UsageError(printable(f"{source} has no side {side}; {known}."))
            material = of_side(material, side)
        needs_figures = name not in ("csv", "jsonl", "junit")
        missing = [f"{series}: {why}" for series, why in without_figure(material)]
        if needs_figures and not series_of(material):
            raise UsageError(f"{source} has no figure to export. {'; '.join(missing)}")
        write_text(FORMATS[name].text(material), out)
    for line in missing if needs_figures else ():
        click.echo(f"envdyno: no figure for {line}", err=True)
    return ExitCode.DONE
