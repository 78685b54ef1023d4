"""What ``envdyno plan`` does: prepare the sides, and print what would be run."""

from __future__ import annotations

import click

from envdyno.agent.stages import Stage
from envdyno.launch.deadlines import Deadlines
from envdyno.launch.experiment_head import side_label
from envdyno.plan.cases import Unknown, cases_of, catalogue
from envdyno.plan.duration_estimate import estimate_duration
from envdyno.plan.expand import Need, expand
from envdyno.plan.read_plan import LoadedPlan
from envdyno.report.columns import aligned
from envdyno.sides.comparison import check_sides
from envdyno.sides.prepare import prepared_sides
from envdyno.sides.prepared import PreparedSide


def show_plan(loaded: LoadedPlan) -> None:
    """Print the plan: sides, cases, runs in order, deadlines, estimated time."""
    plan = loaded.plan
    own_python = any(side.python or side.requirements for side in plan.sides.values())
    cases = cases_of(plan, catalogue(), Unknown.KEEP if own_python else Unknown.REFUSE)
    runs = expand(plan, cases)
    requests = plan.side_requests(loaded.directory)
    with prepared_sides(requests, notify=lambda notice: click.echo(f"! {notice}", err=True)) as sides:
        checks = check_sides(sides, plan.allowances)
        for side in sides:
            for line in _side_lines(side):
                click.echo(line)
        for comparison in checks.comparisons:
            for difference in comparison.packages:
                click.echo(f"  {comparison.first} | {comparison.second}: {difference}")
    click.echo("")
    rows = [("run", "case", "pair", "side", "kind", "")]
    for run in runs:
        need = "" if run.need is Need.ALWAYS else "while undecided"
        rows.append((str(run.index + 1), run.case, str(run.pair), run.side, run.timing.value, need))
    for line in aligned(rows, right=(0, 2)):
        click.echo(line)
    deadlines = Deadlines(dict(plan.deadlines))
    limits = ", ".join(
        f"{stage.value} {deadlines.seconds(stage, plan.measure.window):g} s" for stage in Stage
    )
    click.echo(f"\ndeadlines: {limits}")
    click.echo(f"time: {estimate_duration(plan, runs)}")


def _side_lines(side: PreparedSide) -> list[str]:
    identity = side.identity
    lines = [f"side {side.name}: {side_label(side)}, Python {identity.interpreter.version} at {side.python}"]
    if side.tree is not None:
        lines.append(f"  code in {side.tree}")
    lines += [f"  import path: {folder}" for folder in side.sys_path]
    lines += [f"  module under test: {name} from {place}" for name, place in side.modules.items()]
    lines += [f"  {variable}={folder}" for variable, folder in side.cache_dirs.items()]
    return lines
