"""``envdyno list``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

from envdyno.cli.refusal import refusing


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
    from envdyno.agent.workloads.registry import registrations
    from envdyno.cli.console import screen_width, stdout_line
    from envdyno.report.workload_list import WIDTH, list_entry, list_lines, verbose_lines

    with refusing():
        version_of = _versions(python)
    entries = [list_entry(registration, version_of) for registration in registrations().values()]
    if as_json:
        for entry in entries:
            sys.stdout.write(json.dumps(entry.to_json()) + "\n")
        return
    width = screen_width() or WIDTH
    for line in verbose_lines(entries, width) if verbose else list_lines(entries, width):
        stdout_line(line)


def _versions(python: Path | None) -> Callable[[str], str | None]:
    from envdyno.report.workload_list import installed_here, installed_in

    if python is None:
        return installed_here
    from envdyno.sides.interpreter import describe, find_interpreter

    found = describe(find_interpreter(str(python), Path.cwd()), os.environ)
    return installed_in(found.packages.versions)
