"""Every run of a sweep, before any is made."""

from __future__ import annotations

from collections.abc import Iterator

from envdyno.experiment.sweep_course import SweepCourse
from envdyno.plan.duration_estimate import estimate_duration
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.sweep_grid import Rooms, grid_of
from envdyno.plan.sweep_runs import SCOUTED, SCOUTING_WINDOW_S, grid_runs
from envdyno.plan.sweep_section import SweepSection
from envdyno.record.counted import counted
from envdyno.record.setting import Setting
from envdyno.report.columns import aligned

MOST_SCOUTED = 5
"""So many batch sizes at most come out of scouting."""


def sweep_plan_lines(
    plan: ExperimentPlan, section: SweepSection, course: SweepCourse, rooms: Rooms
) -> Iterator[str]:
    """Yield the runs in order, what cannot be, and the time that all should take."""
    yield f"workload: {course.runs[0].workload}"
    if course.grid is None:
        first = course.scouting[0]
        yield (
            f"scouting: up to {counted(len(course.scouting), 'run')} with a window of at most "
            f"{SCOUTING_WINDOW_S:g} s, "
            f"{first.num_envs:,} to {course.scouting[-1].num_envs:,} envs, until more bring no more"
        )
        grid = grid_of(section, SCOUTED[-MOST_SCOUTED:], rooms)
        runs = grid_runs(plan, section, first.workload, grid.settings)
        yield (
            f"grid: up to {MOST_SCOUTED} batch sizes, {counted(len(grid.settings), 'setting')}, "
            f"{counted(len(runs), 'run')} in {counted(section.repeats, 'block')}"
        )
    else:
        grid, runs = course.grid, course.runs
        settings, made = counted(len(grid.settings), "setting"), counted(len(runs), "run")
        yield f"grid: {settings}, {made} in {counted(section.repeats, 'block')}"
        yield ""
        rows: list[tuple[str, ...]] = [("run", "block", "envs", "workers a node", "threads of each")]
        for run in runs:
            setting = Setting(run.num_envs, run.workers_per_node or 1, run.threads or 1)
            rows.append((str(run.index + 1), str(run.pair), f"{run.num_envs:,}", *map(str, setting[1:])))
        yield from aligned(rows, right=range(5))
        yield ""
    reasons: dict[str, int] = {}
    for one in grid.impossible:
        reasons[one.reason] = reasons.get(one.reason, 0) + 1
    for reason, count in reasons.items():
        yield f"! {counted(count, 'setting')} cannot be. {reason}"
    yield f"order: seed {plan.experiment.order_seed}, every second block in the reverse order of the first"
    yield f"time: {estimate_duration(plan, (*course.scouting, *runs) if course.grid is None else runs)}"
