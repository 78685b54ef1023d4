"""``envdyno gate``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing


@click.command()
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--min-ratio", type=float, help="Another bound than the plan's.")
@click.option("--rule", type=click.Choice(["interval", "point"]), help="Another rule than the plan's.")
@click.option(
    "--plan", "plan_file", type=click.Path(path_type=Path), help="Take the gate from this plan file."
)
@click.option("--allow-dirty", is_flag=True, help="Judge a working tree with uncommitted changes.")
def gate(
    bundle: Path, min_ratio: float | None, rule: str | None, plan_file: Path | None, *, allow_dirty: bool
) -> int:
    """Judge the experiment in BUNDLE again, without measuring. The exit code is the verdict.

    BUNDLE is the folder that envdyno ab wrote, or one that was packed.
    """
    with refusing():
        from envdyno.cli.gate_verbs import judge_again

        return judge_again(bundle, min_ratio, rule, plan_file, allow_dirty)
