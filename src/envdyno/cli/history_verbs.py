"""What ``envdyno history`` does: find bundles, read and judge them, put their figures in order of time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from envdyno.cli.console import stdout_line
from envdyno.cli.exit_code import ExitCode
from envdyno.cli.text_output import write_text
from envdyno.experiment.material import Material, opened
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import EXPERIMENT, RECORDS, BundleError
from envdyno.record.counted import counted
from envdyno.record.journal import JournalError
from envdyno.record.pack import is_pack
from envdyno.record.printable import printable
from envdyno.report.history import Figure, history_of
from envdyno.report.history_lines import history_lines
from envdyno.report.html.history import history_page

WIDTH = 100


def show_history(
    sources: Sequence[Path], html: Path | None, cases: Sequence[str], *, only_ratios: bool
) -> int:
    """Print the history, or write its page; return the exit code.

    Raises:
        UsageError: no bundle was found, or none has such a case.
    """
    materials = list(_materials(sources))
    if not materials:
        raise UsageError(f"There is no bundle in {', '.join(map(str, sources))}.")
    series = [
        one
        for one in history_of(materials)
        if (not cases or one.case in cases) and (not only_ratios or one.figure is Figure.RATIO)
    ]
    if not series:
        raise UsageError(f"None of {counted(len(materials), 'bundle')} has such a figure.")
    if html is not None:
        write_text(history_page(series, len(materials)), html)
        return ExitCode.DONE
    for line in history_lines(series, shutil.get_terminal_size((WIDTH, 24)).columns):
        stdout_line(line)
    return ExitCode.DONE


def _materials(sources: Sequence[Path]) -> Iterator[Material]:
    """Yield every bundle; one that was named must be readable, one that was only found need not."""
    for source in sources:
        found = list(_bundles_in(source))
        for path in found:
            try:
                with opened(path) as material:
                    # What a history needs of raw samples is nothing; a packed bundle is gone after this.
                    yield replace(material, bundle=None)
            except (BundleError, JournalError) as error:
                if path == source:
                    raise
                click.echo(f"envdyno: left out: {printable(str(error))}", err=True)


def _bundles_in(source: Path) -> Iterator[Path]:
    """Yield the source itself, or where it is a folder of bundles, all of these."""
    if not source.is_dir() or _is_bundle(source):
        yield source
        return
    for path in sorted(source.iterdir()):
        if (path.is_dir() and _is_bundle(path)) or is_pack(path):
            yield path


def _is_bundle(folder: Path) -> bool:
    return (folder / EXPERIMENT).is_file() or (folder / RECORDS).is_file()
