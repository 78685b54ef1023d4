"""The course of a sweep: scouting runs where batch sizes are left to ``auto``, then the grid.

The grid is fixed before its first run, by the plan, this machine and the scouting runs alone; so a sweep that
was stopped at any moment goes on with the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envdyno.experiment.scouting import chosen_num_envs
from envdyno.plan.cases import Catalogue, Unknown, find_workloads
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.plan_error import PlanError
from envdyno.plan.sweep_grid import Grid, Room, Rooms, grid_of, scouting_threads, usual_workers
from envdyno.plan.sweep_runs import grid_runs, scouting_runs
from envdyno.plan.sweep_section import AUTO, SweepSection
from envdyno.plan.usage_error import UsageError
from envdyno.record.counted import counted
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting


@dataclass(frozen=True)
class SweepCourse:
    """What is to be run, as far as it is known."""

    scouting: tuple[PlannedRun, ...]
    grid: Grid | None
    """``None`` while scouting has not ended."""
    runs: tuple[PlannedRun, ...]
    """Scouting runs, then those of the grid."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all runs, in order."""
        return tuple(run.id for run in self.runs)

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases, in the order of the plan, scouting first."""
        grid = self.grid.settings if self.grid is not None else ()
        workload = self.runs[0].workload
        return (*(run.case for run in self.scouting), *(one.case_name(workload) for one in grid))

    @property
    def cannot_run(self) -> dict[str, str]:
        """Return the cases of the settings that cannot be, and why."""
        impossible = self.grid.impossible if self.grid is not None else ()
        return {one.setting.case_name(self.runs[0].workload): one.reason for one in impossible}

    def before_grid(self) -> SweepCourse:
        """Return the course as it was while scouting had not ended."""
        return SweepCourse(self.scouting, None, self.scouting)


def swept_workload(plan: ExperimentPlan, known: Catalogue, unknown: Unknown) -> str:
    """Return the one workload of a sweep.

    Raises:
        PlanError: there are several, or it is not known.
    """
    found = find_workloads(plan.experiment.cases, known, unknown)
    if len(found) != 1:
        raise PlanError(
            "The sweep", [f"a sweep is of one workload, and these are {len(found)}: {', '.join(found)}."]
        )
    return found[0]


def course_of(
    plan: ExperimentPlan, section: SweepSection, workload: str, rooms: Rooms, records: Sequence[RunRecord]
) -> SweepCourse:
    """Return the course, the grid included as soon as scouting has ended.

    Raises:
        UsageError: no setting is possible.
    """
    if section.num_envs != AUTO:
        return _with_grid(plan, section, workload, rooms, (), section.num_envs)
    scouting = _scouting(plan, section, workload, rooms)
    settled = {one.experiment.planned_id for one in records if one.experiment and one.experiment.final}
    sizes = chosen_num_envs(records)
    if not sizes or not settled.issuperset(run.id for run in scouting):
        return SweepCourse(scouting, None, scouting)
    return _with_grid(plan, section, workload, rooms, scouting, sizes)


def _with_grid(
    plan: ExperimentPlan,
    section: SweepSection,
    workload: str,
    rooms: Rooms,
    scouting: tuple[PlannedRun, ...],
    sizes: Sequence[int],
) -> SweepCourse:
    grid = grid_of(section, sizes, rooms)
    if not grid.settings:
        reasons = dict.fromkeys(one.reason for one in grid.impossible)
        raise UsageError("No setting of this sweep can be. " + " ".join(reasons))
    runs = grid_runs(plan, section, workload, grid.settings, first=len(scouting))
    return SweepCourse(scouting, grid, (*scouting, *runs))


def _scouting(
    plan: ExperimentPlan, section: SweepSection, workload: str, rooms: Rooms
) -> tuple[PlannedRun, ...]:
    try:
        workers = usual_workers(section, rooms)
    except ValueError as error:
        raise UsageError(str(error)) from error
    room, threads = rooms[workers], scouting_threads(section, rooms)
    if threads is None or not isinstance(room, Room):
        asked = ", ".join(map(str, section.threads))
        cpus = room.cpus if isinstance(room, Room) else 0
        raise UsageError(
            f"No setting of this sweep can be: --threads {asked} was asked for, and a worker has "
            f"{counted(cpus, 'CPU')}."
        )
    return scouting_runs(plan, workload, Setting(room.workers, workers, threads))
