"""``envdyno ab``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from envdyno.cli.ab_options import experiment_options, flags_of, plan_file_of
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
    "--resume",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Carry on the experiment in this folder, with the plan that is in it.",
)
@click.option("--json", "as_json", is_flag=True, help="Write each record to stdout, one JSON object a line.")
@click.option("-q", "--quiet", is_flag=True, help="No progress; the result only.")
def ab(**arguments: Any) -> int:
    r"""Is one side slower than the other? Paired, interleaved runs of CASES on both.

    Sides are git refs, interpreters, requirement sets, or options:

    \b
      envdyno ab --base main --head dev go2_joystick_flat/mujoco --gate 0.90
      envdyno ab --side old=requirement:mujoco==3.3.7 --side new=requirement:mujoco==4.0.0 ...
      envdyno ab -o direct:runtime=direct -o manager:runtime=manager suite --pairs 3
      envdyno ab experiment.toml

    One Ctrl-C ends the experiment after the run in hand, two end it at once; --resume carries it on.

    \b
    Exit code: 0 done, or the gate passed; 1 gate failed; 2 wrong usage; 3 undecided;
    4 not comparable; 5 not measured, for a run failed; 130 interrupted.
    """
    with refusing():
        from envdyno.cli.ab_verbs import AbCommand, run_experiment

        given = plan_file_of(arguments)
        return run_experiment(
            AbCommand(
                flags=flags_of(given),
                plan_file=given["plan_file"],
                out=given["out"],
                resume=given["resume"],
                as_json=given["as_json"],
                quiet=given["quiet"],
            )
        )
