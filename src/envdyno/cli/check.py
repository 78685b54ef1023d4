"""``envdyno check``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from envdyno.cli.assets import assets_option, with_assets
from envdyno.cli.refusal import refusing


@click.command(context_settings={"show_default": True})
@click.argument("workload")
@click.option("-n", "--num-envs", type=int, default=16, help="Environments.")
@click.option("--steps", type=int, default=200, help="Vector steps to look at.")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the workload."
)
@assets_option
@click.option("--seed", type=int, default=0, help="Seed of environments and actions.")
@click.option(
    "--python", type=click.Path(path_type=Path), help="Interpreter of the workload.  [default: envdyno's own]"
)
@click.option(
    "--deadline", "deadlines", multiple=True, metavar="STAGE=DURATION", help="How long a stage may take."
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to stdout.")
def check(**arguments: Any) -> int:
    """Does WORKLOAD do what it says? Builds a small one twice, steps it, and looks closely.

    Counting against the environments' own count, shapes and dtypes, determinism under a seed, threads and
    processes, output and files; and what a record of it would lack. Exit code 1 if something is wrong.
    """
    with refusing():
        return _check(arguments)


def _check(arguments: dict[str, Any]) -> int:
    from envdyno.cli.console import screen_width, stdout_line
    from envdyno.cli.exit_code import ExitCode
    from envdyno.cli.values import parse_deadlines, parse_pairs
    from envdyno.launch.check_findings import Grade
    from envdyno.launch.checking import check_workload
    from envdyno.launch.session import open_session
    from envdyno.plan.run_request import RunRequest
    from envdyno.plan.usage_error import UsageError
    from envdyno.report.check_report import check_json, check_lines

    if arguments["steps"] < 1:
        raise UsageError(f"--steps {arguments['steps']} was asked for; it has to be at least 1.")
    request = RunRequest(
        workload=arguments["workload"],
        options=parse_pairs(with_assets(arguments["options"], arguments["assets"])),
        num_envs=arguments["num_envs"],
        warmup_steps=arguments["steps"],
        seed=arguments["seed"],
        deadlines_s=parse_deadlines(arguments["deadlines"]),
        python=arguments["python"] or Path(sys.executable),
    )
    with open_session() as session:
        found = check_workload(request, session)
    if arguments["as_json"]:
        sys.stdout.write(json.dumps(check_json(found), allow_nan=False) + "\n")
    else:
        for line in check_lines(found, screen_width()):
            stdout_line(line)
    wrong = any(finding.grade is Grade.WRONG for finding in found.findings)
    return ExitCode.GATE_FAILED if wrong else ExitCode.DONE
