"""``envdyno list``."""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from envdyno.cli.refusal import refusing

if TYPE_CHECKING:
    from collections.abc import Callable

    from envdyno.report.workload_list import ListEntry

TAKEN = "a workload that comes with envdyno has this name, and is the one that runs"


@click.command("list")
@click.option("-v", "--verbose", is_flag=True, help="Show what each can tell, its limits, and a first run.")
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    help="Interpreter in which to look for what they need.  [default: envdyno's own]",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line to stdout.")
def list_workloads(*, verbose: bool, python: Path | None, as_json: bool) -> None:
    """List the workloads that can be run, and what is missing for the others."""
    from envdyno.cli.console import screen_width, stdout_line
    from envdyno.report.workload_list import WIDTH, list_lines, verbose_lines

    with refusing():
        looked_at, entries = _looked_up(python)
    if as_json:
        for entry in entries:
            sys.stdout.write(json.dumps(entry.to_json()) + "\n")
        return
    width = screen_width() or WIDTH
    if verbose or python is not None:
        stdout_line(looked_at)
        stdout_line("")
    for line in verbose_lines(entries, width) if verbose else list_lines(entries, width):
        stdout_line(line)


def _looked_up(python: Path | None) -> tuple[str, list[ListEntry]]:
    """Return which interpreter was looked at, and every workload with what of its needs is there."""
    from envdyno.agent.workloads.entry_points import installed
    from envdyno.agent.workloads.registry import built_in
    from envdyno.report.workload_list import installed_here, installed_in, list_entry
    from envdyno.sides.entry_points import entry_points_of
    from envdyno.sides.interpreter import describe, find_interpreter

    path, version = Path(sys.executable), platform.python_version()
    version_of: Callable[[str], str | None] = installed_here
    if python is not None:
        path = find_interpreter(str(python), Path.cwd())
        found = describe(path, os.environ)
        version_of, version = installed_in(found.packages.versions), found.interpreter.version
    own = built_in()
    # To start a process and import what others wrote takes a while: only where there is something.
    others = entry_points_of(path, os.environ) if python is not None or installed() else ()
    taken = {entry.name for entry in own}
    entries = [list_entry(entry, version_of) for entry in own]
    entries += [
        list_entry(one.registration, version_of, TAKEN if one.registration.name in taken else one.broken)
        for one in others
    ]
    return f"Python {version} at {path}", entries
