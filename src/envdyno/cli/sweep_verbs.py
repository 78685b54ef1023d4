"""What ``envdyno sweep`` does: scout for batch sizes, run the grid, judge, show."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from envdyno.cli.ab_output import AbOutput
from envdyno.cli.console import stdout_line
from envdyno.cli.exit_code import ExitCode
from envdyno.cli.sweep_progress import SweepProgress
from envdyno.cli.workspace import workspace
from envdyno.experiment.begin import Undertaking, begin
from envdyno.experiment.experiment import Ending, Hooks, Limits
from envdyno.experiment.history import CanaryUnit, History
from envdyno.experiment.planned_runs import PlannedRuns, request_of
from envdyno.experiment.rooms import memory_room_bytes, rooms_of
from envdyno.experiment.scouting import why_no_further
from envdyno.experiment.side_watch import SideWatch
from envdyno.experiment.sweep import Sweep, SweepHooks
from envdyno.experiment.sweep_course import SweepCourse, course_of, swept_workload
from envdyno.experiment.sweep_judging import SweepAnswer, answer_of
from envdyno.host.site import survey
from envdyno.judge.best_settings import Standing
from envdyno.judge.pairing import CANARY_LIMIT
from envdyno.launch.scratch import ScratchError
from envdyno.launch.session import Session, open_session
from envdyno.plan.cases import Unknown, catalogue
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.quantities import format_duration
from envdyno.plan.read_plan import LoadedPlan
from envdyno.plan.sweep_section import SweepSection
from envdyno.record.bundle import Bundle
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.journal import Journal, JournalError
from envdyno.report.progress import ProgressLine
from envdyno.report.sweep_json import answer_json
from envdyno.report.sweep_plan import sweep_plan_lines
from envdyno.report.sweep_report import sweep_answer_lines
from envdyno.sides.prepared import PreparedSide


@dataclass(frozen=True)
class SweepCommand:
    """What the command line asks for."""

    loaded: LoadedPlan
    out: Path | None
    resume: Path | None
    as_json: bool
    quiet: bool


def show_sweep(loaded: LoadedPlan) -> int:
    """Print every run of a sweep, and how long all should take."""
    plan, section = loaded.plan, _section(loaded.plan)
    course = course_of(plan, section, _workload(plan), rooms_of(plan, section), ())
    for line in sweep_plan_lines(plan, section, course, rooms_of(plan, section)):
        stdout_line(line)
    return ExitCode.DONE


def run_sweep(command: SweepCommand) -> int:
    """Run a sweep to its answer; return the exit code."""
    loaded = command.loaded
    plan, section = loaded.plan, _section(loaded.plan)
    workload = _workload(plan)
    output = AbOutput(quiet=command.quiet, as_json=command.as_json)
    with workspace("sweep", loaded, command.out, command.resume, output) as (bundle, journal, sides):
        sweep = _Sweep(loaded, section, workload, bundle, journal, sides, output)
        try:
            head, ending = sweep.run()
        except (JournalError, ScratchError) as error:
            output.tell(f"envdyno: {error}")
            if bundle.has_experiment():
                output.tell(f"The sweep has stopped. Make room, and carry it on: {_resume(bundle)}")
            return ExitCode.NOT_MEASURED
    return _conclude(bundle, head, plan, ending, output)


def _section(plan: ExperimentPlan) -> SweepSection:
    assert plan.sweep is not None
    return plan.sweep


def _workload(plan: ExperimentPlan) -> str:
    own_python = any(side.python or side.asks_for_packages for side in plan.sides.values())
    return swept_workload(plan, catalogue(), Unknown.KEEP if own_python else Unknown.REFUSE)


@dataclass
class _Sweep:
    """A sweep in its bundle."""

    loaded: LoadedPlan
    section: SweepSection
    workload: str
    bundle: Bundle
    journal: Journal
    sides: Mapping[str, PreparedSide]
    output: AbOutput

    def run(self) -> tuple[ExperimentRecord, Ending]:
        """Begin, or carry on, and measure to the end."""
        plan = self.loaded.plan
        with (
            ProgressLine(self.output.console, plan.measure.window, shown=not self.output.quiet) as line,
            open_session(keep=self.bundle.folder.resolve()) as session,
        ):
            progress = SweepProgress(line, self.output, session.interrupts)
            session.watcher = progress
            rooms = rooms_of(plan, self.section)
            history = History.of(self.bundle.records(), CanaryUnit.BLOCK)
            course_after = partial(course_of, plan, self.section, self.workload, rooms)
            course = self._begun(course_after(history.records))
            head = self._begin(course, session, progress)
            session.interrupts.patience = 2
            asked_to_end = Hooks(progress.begin, progress.end, lambda: bool(session.interrupts.arrived))
            ending = Sweep(
                course=course,
                course_after=course_after,
                executor=self._executor(head, session),
                keep=self.journal.append,
                limits=_limits(plan),
                left_out=why_no_further(lambda: self._memory_bytes(course), plan.measure.window),
                hooks=SweepHooks(progress.begin_measuring, self._write_grid, asked_to_end),
                history=history,
            ).run_all()
        return self.bundle.experiment(), ending

    def _begun(self, course: SweepCourse) -> SweepCourse:
        """Return the course that the bundle has written down: a sweep may have ended before its grid was."""
        if not self.bundle.has_experiment() or not course.scouting:
            return course
        before = course.before_grid()
        return before if before.ids == self.bundle.experiment().planned else course

    def _begin(self, course: SweepCourse, session: Session, progress: SweepProgress) -> ExperimentRecord:
        undertaking = Undertaking(
            self.loaded.plan,
            self.loaded.directory,
            course.cases,
            course.runs,
            self.sides,
            session,
            course.cannot_run,
        )
        return begin(self.bundle, undertaking, progress.look, self.output.tell, ["envdyno", *sys.argv[1:]])

    def _write_grid(self, course: SweepCourse) -> None:
        """Write down the grid that scouting led to."""
        changes = {"cases": course.cases, "planned": course.ids, "cannot_run": course.cannot_run}
        self.bundle.write_experiment(self.bundle.experiment().model_copy(update=changes))

    def _executor(self, head: ExperimentRecord, session: Session) -> PlannedRuns:
        return PlannedRuns(
            plan=self.loaded.plan,
            sides=self.sides,
            watches={side.name: SideWatch(self.sides[side.name], side) for side in head.sides},
            session=session,
            cwd=Path(head.working_directory),
            canary_limit=CANARY_LIMIT,
        )

    def _memory_bytes(self, course: SweepCourse) -> int | None:
        run = course.runs[0]
        request = request_of(self.loaded.plan, run, self.sides[run.side], Path.cwd())
        return memory_room_bytes(survey(request.placement))


def _limits(plan: ExperimentPlan) -> Limits:
    settings = plan.experiment
    return Limits(settings.budget, settings.retries, settings.disturbed_repeats)


def _conclude(
    bundle: Bundle, head: ExperimentRecord, plan: ExperimentPlan, ending: Ending, output: AbOutput
) -> int:
    """Judge, show, and return the exit code."""
    records = tuple(bundle.records())
    answer = answer_of(head, records)
    for line in sweep_answer_lines(head, answer, records, output.width):
        output.tell(line)
    output.tell("")
    if output.as_json:
        stdout_line(answer_json(answer))
    output.tell(f"The bundle is {bundle.folder}: `envdyno show {bundle.folder}` shows it again.")
    failure = records[-1].failure if records else None
    for line in _of_ending(ending, plan, failure.message if failure else "", bundle):
        output.tell(line)
    return _exit_code(ending, answer)


def _of_ending(ending: Ending, plan: ExperimentPlan, last_failure: str, bundle: Bundle) -> Iterable[str]:
    """Return what is to be said of a sweep that did not do all that was planned."""
    if ending is Ending.BUDGET:
        budget = format_duration(plan.experiment.budget or 0.0)
        return [f"The time budget of {budget} is spent; the runs left out can be made: {_resume(bundle)}"]
    if ending is Ending.INTERRUPTED:
        return [f"Interrupted; carry it on: {_resume(bundle)}"]
    return [] if ending is Ending.COMPLETE else [f"envdyno: {last_failure}"]


def _exit_code(ending: Ending, answer: SweepAnswer) -> ExitCode:
    if ending is Ending.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if ending is Ending.SIDE_CHANGED:
        return ExitCode.INCOMPARABLE
    failed = any(figures.failed for figures in answer.figures.values())
    if failed or answer.result.best is None:
        return ExitCode.NOT_MEASURED
    untold = (Standing.UNDECIDED, Standing.NOT_MEASURED)
    if not answer.result.is_decided or any(answer.result.named(standing) for standing in untold):
        return ExitCode.UNDECIDED
    return ExitCode.DONE


def _resume(bundle: Bundle) -> str:
    return f"envdyno sweep --resume {bundle.folder}"
