"""What ``envdyno plan`` does: prepare the sides, and print what would be run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from envdyno.agent.stages import Stage
from envdyno.cli.console import stdout_line
from envdyno.cli.sweep_verbs import show_sweep
from envdyno.experiment.side_labels import side_labels
from envdyno.launch.deadlines import Deadlines
from envdyno.plan.cases import Unknown, cases_of, catalogue, unmatched_exceptions
from envdyno.plan.duration_estimate import estimate_duration
from envdyno.plan.expand import Need, PlannedRun, expand
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.read_plan import LoadedPlan
from envdyno.report.columns import aligned
from envdyno.sides.comparison import SideChecks, check_sides
from envdyno.sides.prepare import prepared_sides
from envdyno.sides.prepared import PreparedSide


def show_plan(loaded: LoadedPlan) -> None:
    """Print the plan: sides, cases, runs in order, deadlines, estimated time."""
    plan = loaded.plan
    if plan.sweep is not None:
        show_sweep(loaded)
        return
    own_python = any(side.python or side.asks_for_packages for side in plan.sides.values())
    cases = cases_of(plan, catalogue(), Unknown.KEEP if own_python else Unknown.REFUSE)
    runs = expand(plan, cases)
    requests = plan.side_requests(loaded.directory)
    with prepared_sides(requests, notify=lambda notice: click.echo(f"! {notice}", err=True)) as sides:
        checks = check_sides(sides, plan.allowances)
        lines = [*_sides_lines(sides, checks), "", *_run_lines(runs), "", *_time_lines(plan, runs)]
    lines += [
        f"! The exception for {name} matches no case of this experiment."
        for name in unmatched_exceptions(plan, cases)
    ]
    for line in lines:
        stdout_line(line)


def _sides_lines(sides: Sequence[PreparedSide], checks: SideChecks) -> Iterator[str]:
    labels = side_labels(sides)
    for side in sides:
        version = side.identity.interpreter.version
        yield f"side {side.name} ({labels[side.name]}): Python {version} at {side.python}"
        yield from (f"  {key} = {value!r}" for key, value in sorted(side.options.items()))
        yield from (f"  {key}={value}" for key, value in sorted(side.identity.environ.items()))
        if side.tree is not None:
            yield f"  code in {side.tree}"
        yield from (f"  imports from {folder}" for folder in side.sys_path)
        yield from (f"  module under test: {name} from {place}" for name, place in side.modules.items())
        yield from _cache_lines(side)
    for comparison in checks.comparisons:
        differing = ", ".join(comparison.differing) or "nothing"
        yield f"{comparison.second} differs from {comparison.first} in: {differing}"
        yield from (f"  {difference}" for difference in comparison.packages)
    yield from (f"! {notice}" for notice in checks.notices)


def _cache_lines(side: PreparedSide) -> Iterator[str]:
    """Yield the folders of a side's caches, one line a place."""
    places: dict[Path, list[str]] = {}
    for place in side.cache_dirs.values():
        places.setdefault(place.parent, []).append(place.name)
    yield from (f"  caches in {place}: {', '.join(names)}" for place, names in places.items())


def _run_lines(runs: Sequence[PlannedRun]) -> list[str]:
    rows = [("run", "case", "pair", "side", "kind", "")]
    for run in runs:
        need = "" if run.need is Need.ALWAYS else "while undecided"
        rows.append((str(run.index + 1), run.case, str(run.pair), run.side, run.timing.value, need))
    return aligned(rows, right=(0, 2))


def _time_lines(plan: ExperimentPlan, runs: Sequence[PlannedRun]) -> Iterator[str]:
    deadlines = Deadlines(dict(plan.deadlines))
    limits = ", ".join(
        f"{stage.value} {deadlines.seconds(stage, plan.measure.window):g} s" for stage in Stage
    )
    yield f"deadlines: {limits}"
    yield f"time: {estimate_duration(plan, runs)}"
