"""``envdyno list``."""

from __future__ import annotations

import json
import sys

import click


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line to stdout.")
def list_workloads(*, as_json: bool) -> None:
    """List the workloads that can be run, and what is missing for the others."""
    from envdyno.agent.workloads.registry import registrations
    from envdyno.cli.console import stdout_line
    from envdyno.report.workload_list import list_entry, list_lines

    entries = [list_entry(registration) for registration in registrations().values()]
    if as_json:
        for entry in entries:
            sys.stdout.write(json.dumps(entry.to_json()) + "\n")
        return
    for line in list_lines(entries):
        stdout_line(line)
