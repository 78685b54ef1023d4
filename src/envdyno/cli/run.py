"""``envdyno run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Smt
from envdyno.cli.assets import assets_option
from envdyno.cli.choices import one_of
from envdyno.cli.refusal import refusing
from envdyno.cli.values import Duration


@click.command(context_settings={"show_default": True})
@click.argument("workload", required=False)
@click.option(
    "-n",
    "--num-envs",
    type=int,
    multiple=True,
    help="Total batch, split over the workers; several are run once each.  [default: 2048]",
)
@click.option("--duration", type=Duration(), default="10s", help="Length of the window.")
@click.option("--steps", type=int, help="Measure the latency of this many vector steps instead of a window.")
@click.option("--warmup", type=int, default=30, help="Vector steps of warm-up, after the first step.")
@click.option("--actions", type=one_of(ActionSource), default="random", help="Where actions come from.")
@click.option(
    "--policy",
    type=click.Choice(["none", "torch"]),
    help="Whether a collector chooses actions by its actor network; short for -o policy=...",
)
@click.option("--seed", type=int, default=0, help="Seed of environments and actions.")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the workload."
)
@assets_option
@click.option(
    "--numa",
    default=None,
    metavar="auto|off|LIST|gpu:K|per-l3|per-class",
    help="What gets a worker of its own.  [default: auto; off with --steps]",
)
@click.option("--workers-per-node", type=int, default=1, help="Workers of each node.")
@click.option("--threads", type=int, help="Threads of each worker.  [default: as many as it has CPUs]")
@click.option("--cpus", metavar="LIST", help="Use these CPUs only, e.g. 0-7,16.")
@click.option("--smt", type=one_of(Smt), default="on", help="off uses one thread of each core.")
@click.option("--mem", type=one_of(MemoryPolicy), default="bind", help="Memory policy of the workers.")
@click.option("--strict-placement", is_flag=True, help="Stop when a binding is not applied as asked.")
@click.option("--exclusive", is_flag=True, help="Refuse when other work loads the chosen CPUs.")
@click.option("--wait-idle", type=Duration(), help="Wait up to this long for the chosen CPUs to be idle.")
@click.option(
    "--foreign-load-limit", type=float, default=0.1, help="Cores of other work that mark a run as disturbed."
)
@click.option("--allow-nonfinite", is_flag=True, help="Take rows that are not finite for valid work.")
@click.option("--phases", is_flag=True, help="Add an attribution run that times the phases of a step.")
@click.option("--phase-cpu", is_flag=True, help="Time phases in CPU time too; implies --phases.")
@click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="NAME=MODULE:CALLABLE",
    help="Time a callable as a phase, without touching its code.",
)
@click.option(
    "--hardware-counters",
    type=click.Choice(["auto", "off"]),
    default="auto",
    help="Count instructions, cycles and misses in the window, where the kernel allows it.",
)
@click.option(
    "--compare", "other", metavar="WORKLOAD", help="Measure another workload in turn with the first."
)
@click.option("--rounds", type=int, default=3, help="Runs of each side with --compare.")
@click.option(
    "--python", type=click.Path(path_type=Path), help="Interpreter of the workload.  [default: envdyno's own]"
)
@click.option(
    "--deadline", "deadlines", multiple=True, metavar="STAGE=DURATION", help="How long a stage may take."
)
@click.option("--json", "as_json", is_flag=True, help="Write each record to stdout, one JSON object a line.")
@click.option(
    "--jsonl", type=click.Path(path_type=Path), metavar="FILE", help="Append each record to a file."
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Append a line for each worker and run to a CSV file.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep records, raw samples and logs in a folder.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress line and no table.")
def run(**arguments: Any) -> int:
    """Measure how fast this machine steps WORKLOAD, all of the machine used.

    WORKLOAD is a name of `envdyno list`, a pattern such as 'sac/*', `suite` for all reference cases,
    or module:attribute of your own factory; without one the built-in robot is measured. Tables go to
    stderr, records to stdout.
    """
    with refusing():
        return _run(arguments)


def _run(arguments: dict[str, Any]) -> int:
    from envdyno.cli.run_output import RunOutput
    from envdyno.cli.run_requests import run_order
    from envdyno.cli.run_verbs import run_all

    order = run_order(arguments)
    output = RunOutput.open(
        as_json=arguments["as_json"],
        jsonl=arguments["jsonl"],
        csv_file=arguments["csv_file"],
        out=arguments["out"],
        quiet=arguments["quiet"],
    )
    try:
        return run_all(order, arguments["wait_idle"], output)
    finally:
        output.close()
