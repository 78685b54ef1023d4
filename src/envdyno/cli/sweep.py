"""``envdyno sweep``."""

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


@click.command()
@click.argument("workload", required=False)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A plan file with [sweep]; flags add to it. It may stand in the place of WORKLOAD, too.",
)
@click.option(
    "-n",
    "--num-envs",
    multiple=True,
    metavar="LIST",
    help="Total batches, as 256,512 or 256..8192 (doubled).  [default: auto, around the knee]",
)
@click.option(
    "--workers-per-node",
    multiple=True,
    metavar="LIST",
    help="Workers of each node.  [default: auto, 1 and where possible 2]",
)
@click.option(
    "--threads",
    multiple=True,
    metavar="LIST",
    help="Threads of each worker.  [default: auto, all its CPUs and fewer]",
)
@click.option("--repeats", type=int, help="Runs of each setting.  [default: 3]")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the workload."
)
@assets_option
@click.option("--python", metavar="PYTHON", help="Interpreter of the workload.  [default: envdyno's own]")
@click.option("--duration", metavar="TIME", help="Length of each window.  [default: 10s]")
@click.option("--warmup", type=int, help="Vector steps of warm-up.  [default: 30]")
@click.option("--actions", type=one_of(ActionSource), help="Where actions come from.  [default: random]")
@click.option("--seed", type=int, help="Seed of environments and actions.  [default: 0]")
@click.option("--order-seed", type=int, help="Seed of the order of the settings.  [default: 0]")
@click.option("--numa", metavar="auto|off|LIST|gpu:K|per-l3|per-class", help="As for envdyno run.")
@click.option("--cpus", metavar="LIST", help="Use these CPUs only, e.g. 0-7,16.")
@click.option("--smt", type=one_of(Smt), help="off uses one thread of each core.  [default: on]")
@click.option("--mem", type=one_of(MemoryPolicy), help="Memory policy of the workers.  [default: bind]")
@click.option(
    "--budget", metavar="TIME", help="Begin no further run after this time of measuring, such as 10m."
)
@click.option("--wait-idle", metavar="TIME", help="Wait up to this long for a quiet machine before each run.")
@click.option(
    "--foreign-load-limit",
    type=float,
    help="Cores of other work that mark a run as disturbed.  [default: 0.1]",
)
@click.option("--retries", type=int, help="How often a failed run is repeated.  [default: 0]")
@click.option("--disturbed-repeats", type=int, help="How often a disturbed run is repeated.  [default: 1]")
@click.option("--dry-run", is_flag=True, help="Show every run and how long all take; measure nothing.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the bundle.  [default: envdyno-DATE]",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="DIR", help="Carry on the sweep in this folder."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write each record to stdout, a JSON object a line, the answer last.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress; the result only.")
def sweep(**arguments: Any) -> int:
    r"""Which batch size, worker count and thread count are best here for WORKLOAD?

    Every combination is run --repeats times, in blocks that have one run of each, in random order:

    \b
      envdyno sweep go2_joystick_flat/mujoco
      envdyno sweep my.module:make_env -n 256..8192 --threads 4,8,16
      envdyno sweep -n 1024,2048 --threads 1,2 --repeats 5 --budget 20m

    The answer names the best setting, all that may be as good, and the cheapest of these. Without
    --num-envs, short scouting runs find the batch sizes first.

    \b
    Exit code: 0 done; 2 wrong usage; 3 undecided, for too few runs;
    5 not measured, for a run failed; 130 interrupted.
    """
    with refusing():
        from envdyno.cli.sweep_plan import sweep_plan_of
        from envdyno.cli.sweep_verbs import SweepCommand, run_sweep, show_sweep

        loaded = sweep_plan_of(arguments)
        if arguments["dry_run"]:
            return show_sweep(loaded)
        return run_sweep(
            SweepCommand(
                loaded=loaded,
                out=arguments["out"],
                resume=arguments["resume"],
                as_json=arguments["as_json"],
                quiet=arguments["quiet"],
            )
        )
