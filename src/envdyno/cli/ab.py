"""``envdyno ab``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from envdyno.cli.ab_options import experiment_options, load
from envdyno.cli.refusal import refusing


@click.command()
@experiment_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the bundle.  [default: envdyno-DATE]",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="DIR", help="Carry on the experiment in this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Write each record to stdout, one JSON object a line.")
@click.option("-q", "--quiet", is_flag=True, help="No progress; the result only.")
def ab(**arguments: Any) -> int:
    r"""Is one side slower than the other? Paired, interleaved runs of CASES on both.

    Sides are git refs, interpreters, requirement sets, or options:

    \b
      envdyno ab --base main --head dev go2_joystick_flat/mujoco --gate 0.90
      envdyno ab --side old=requirement:mujoco==3.3.7 --side new=requirement:mujoco==4.0.0 --plan exp.toml
      envdyno ab -o direct:runtime=direct -o manager:runtime=manager suite --pairs 3
    """
    with refusing():
        from envdyno.cli.ab_verbs import run_experiment

        loaded = load(arguments)
        return run_experiment(
            loaded,
            out=arguments["out"],
            resume=arguments["resume"],
            as_json=arguments["as_json"],
            quiet=arguments["quiet"],
        )
