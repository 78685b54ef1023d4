"""``envdyno run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Smt
from envdyno.cli.exit_code import ExitCode
from envdyno.cli.refusal import Refusal, refusing
from envdyno.cli.values import Duration, parse_cpus, parse_deadlines, parse_pairs

LATENCY_NUMA = "off"
"""Latency is that of one worker with the whole machine, unless asked otherwise."""


def _values(kind: Any) -> click.Choice[str]:
    return click.Choice([member.value for member in kind])


@click.command(context_settings={"show_default": True})
@click.argument("workload", required=False)
@click.option(
    "-n",
    "--num-envs",
    type=int,
    multiple=True,
    help="Total batch, split over the workers; several make a sweep.  [default: 2048]",
)
@click.option("--duration", type=Duration(), default="10s", help="Length of the window.")
@click.option("--steps", type=int, help="Measure the latency of this many vector steps instead of a window.")
@click.option("--warmup", type=int, default=30, help="Vector steps of warm-up, after the first step.")
@click.option("--actions", type=_values(ActionSource), default="random", help="Where actions come from.")
@click.option("--seed", type=int, default=0, help="Seed of environments and actions.")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the workload."
)
@click.option(
    "--numa",
    default=None,
    metavar="auto|off|LIST|gpu:K|per-l3",
    help="What gets a worker of its own.  [default: auto; off with --steps]",
)
@click.option("--workers-per-node", type=int, default=1, help="Workers of each node.")
@click.option("--cpus", metavar="LIST", help="Use these CPUs only, e.g. 0-7,16.")
@click.option("--smt", type=_values(Smt), default="on", help="off uses one thread of each core.")
@click.option("--mem", type=_values(MemoryPolicy), default="bind", help="Memory policy of the workers.")
@click.option("--strict-placement", is_flag=True, help="Stop when a binding is not applied as asked.")
@click.option("--exclusive", is_flag=True, help="Refuse when other work loads the chosen CPUs.")
@click.option("--wait-idle", type=Duration(), help="Wait up to this long for the chosen CPUs to be idle.")
@click.option(
    "--foreign-load-limit", type=float, default=0.1, help="Cores of other work that mark a run as disturbed."
)
@click.option("--allow-nonfinite", is_flag=True, help="Take rows that are not finite for valid work.")
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

    WORKLOAD is a name of `envdyno list`, or module:attribute of your own factory; without one the built-in
    robot is measured. Tables go to stderr, records to stdout.
    """
    with refusing():
        return _run(arguments)


def _run(arguments: dict[str, Any]) -> int:
    from envdyno.cli.run_output import RunOutput
    from envdyno.cli.run_verbs import run_all

    requests, other = _requests(arguments)
    output = RunOutput.open(
        as_json=arguments["as_json"],
        jsonl=arguments["jsonl"],
        csv_file=arguments["csv_file"],
        out=arguments["out"],
        quiet=arguments["quiet"],
    )
    try:
        code: ExitCode = run_all(requests, other, arguments["rounds"], arguments["wait_idle"], output)
        return code
    finally:
        output.close()


def _requests(arguments: dict[str, Any]) -> tuple[list[Any], Any]:
    """Return a request for every batch size, and the first one's counterpart of ``--compare``."""
    from envdyno.plan.run_request import DEFAULT_NUM_ENVS, DEFAULT_WORKLOAD, check

    sizes = arguments["num_envs"] or (DEFAULT_NUM_ENVS,)
    workload = arguments["workload"] or DEFAULT_WORKLOAD
    if arguments["rounds"] < 1:
        raise Refusal(f"--rounds {arguments['rounds']} was asked for; it has to be at least 1.")
    if arguments["other"] is not None and len(sizes) > 1:
        raise Refusal("--compare measures one batch size: give --num-envs once.")
    requests = [_request(arguments, workload, size) for size in sizes]
    other = None if arguments["other"] is None else _request(arguments, arguments["other"], sizes[0])
    for request in (*requests, *([other] if other else [])):
        check(request)
    return requests, other


def _request(arguments: dict[str, Any], workload: str, num_envs: int) -> Any:
    import sys

    from envdyno.agent.placement.request import Request
    from envdyno.plan.run_request import RunRequest
    from envdyno.record.case import Mode

    latency = arguments["steps"] is not None
    numa = arguments["numa"] or (LATENCY_NUMA if latency else "auto")
    return RunRequest(
        workload=workload,
        options=parse_pairs(arguments["options"]),
        num_envs=num_envs,
        mode=Mode.LATENCY if latency else Mode.WINDOW,
        window_s=arguments["duration"],
        steps=arguments["steps"] or 0,
        warmup_steps=arguments["warmup"],
        actions=ActionSource(arguments["actions"]),
        seed=arguments["seed"],
        placement=Request(
            numa=numa,
            workers_per_node=arguments["workers_per_node"],
            cpus=parse_cpus(arguments["cpus"]),
            smt=Smt(arguments["smt"]),
            memory=MemoryPolicy(arguments["mem"]),
        ),
        strict_placement=arguments["strict_placement"],
        exclusive=arguments["exclusive"],
        foreign_load_limit_cores=arguments["foreign_load_limit"],
        allow_nonfinite=arguments["allow_nonfinite"],
        deadlines_s=parse_deadlines(arguments["deadlines"]),
        python=arguments["python"] or Path(sys.executable),
    )
