"""``envdyno plan``."""

from __future__ import annotations

from typing import Any

import click

from envdyno.cli.ab_options import experiment_options, load
from envdyno.cli.refusal import refusing


@click.command()
@experiment_options
def plan(**arguments: Any) -> None:
    """Show every run of an experiment in order, its deadlines, its time, and what each side would load.

    The argument may be a plan file: `envdyno plan experiment.toml`.
    """
    with refusing():
        from envdyno.cli.plan_verbs import show_plan

        show_plan(load(arguments))
