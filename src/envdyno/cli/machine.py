"""``envdyno machine``."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from envdyno.cli.refusal import refusing
from envdyno.cli.values import parse_cpus


@click.command(context_settings={"show_default": True})
@click.option("--numa", default="auto", help="As for envdyno run.")
@click.option("--workers-per-node", type=int, default=1, help="As for envdyno run.")
@click.option("--cpus", metavar="LIST", help="As for envdyno run.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to stdout.")
def machine(*, as_json: bool, **wanted: Any) -> None:
    """Show the machine: nodes and limits, what a run would bind, and what disturbs measuring."""
    from envdyno.agent.placement.request import Request
    from envdyno.cli.console import stdout_line
    from envdyno.host.disturbance import disturbances
    from envdyno.host.machine import read_facts
    from envdyno.host.site import survey
    from envdyno.report.machine_report import machine_json, machine_lines

    with refusing():
        site = survey(Request(wanted["numa"], wanted["workers_per_node"], parse_cpus(wanted["cpus"])))
    facts, absent = read_facts()
    found = disturbances(site)
    if as_json:
        sys.stdout.write(json.dumps(machine_json(site, facts, absent, found)) + "\n")
        return
    for line in machine_lines(site, facts, absent, found):
        stdout_line(line)
