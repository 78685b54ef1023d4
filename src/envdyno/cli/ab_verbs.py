"""What ``envdyno ab`` does: prepare the sides, look before measuring, run, judge, show."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envdyno.cli.ab_bundle import plan_to_resume
from envdyno.cli.ab_output import AbOutput
from envdyno.cli.ab_progress import ExperimentProgress
from envdyno.cli.exit_code import ExitCode
from envdyno.cli.judged import show_judgements
from envdyno.cli.sweep_plan import refuse_sweep
from envdyno.cli.workspace import workspace
from envdyno.experiment.begin import Undertaking, begin
from envdyno.experiment.experiment import Ending, Experiment, Hooks, Limits
from envdyno.experiment.floor_store import keep_floors
from envdyno.experiment.history import History
from envdyno.experiment.judging import Judgement, decided_cases, judge_experiment, today
from envdyno.experiment.planned_runs import PlannedRuns
from envdyno.experiment.side_watch import SideWatch
from envdyno.judge.noise_floor import measure_noise_floors
from envdyno.launch.scratch import ScratchError
from envdyno.launch.session import open_session
from envdyno.plan.cases import Case, Unknown, cases_of, catalogue
from envdyno.plan.expand import expand
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.flags import PlanFlags
from envdyno.plan.quantities import format_duration
from envdyno.plan.read_plan import LoadedPlan, load_plan, plan_from_flags
from envdyno.plan.sections import GateSection
from envdyno.record.bundle import Bundle
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.journal import Journal, JournalError
from envdyno.record.run_record import RunRecord
from envdyno.report.progress import ProgressLine
from envdyno.sides.prepared import PreparedSide


@dataclass(frozen=True)
class AbCommand:
    """What the command line asks for."""

    flags: PlanFlags
    plan_file: Path | None
    out: Path | None
    resume: Path | None
    as_json: bool
    quiet: bool

    def plan(self) -> LoadedPlan:
        """Return the plan: of the file, of the flags, or of the bundle that is resumed."""
        if self.plan_file is not None:
            return load_plan(self.plan_file, self.flags)
        if self.resume is not None:
            return plan_to_resume(self.resume, self.flags)
        return plan_from_flags(self.flags, Path.cwd())


def run_experiment(command: AbCommand) -> int:
    """Run an experiment to its verdict; return the exit code."""
    loaded = refuse_sweep(command.plan())
    plan = loaded.plan
    own_python = any(side.python or side.asks_for_packages for side in plan.sides.values())
    cases = cases_of(plan, catalogue(), Unknown.KEEP if own_python else Unknown.REFUSE)
    output = AbOutput(quiet=command.quiet, as_json=command.as_json)
    with workspace("ab", loaded, command.out, command.resume, output) as (bundle, journal, sides):
        try:
            head, ending, records = _run(bundle, journal, loaded, cases, sides, output)
        except (JournalError, ScratchError) as error:
            output.tell(f"envdyno: {error}")
            if bundle.has_experiment():
                output.tell(f"The experiment has stopped. Make room, and carry it on: {_resume(bundle)}")
            return ExitCode.NOT_MEASURED
    return _conclude(bundle, head, plan, records, ending, output)


def _run(
    bundle: Bundle,
    journal: Journal,
    loaded: LoadedPlan,
    cases: Sequence[Case],
    sides: Mapping[str, PreparedSide],
    output: AbOutput,
) -> tuple[ExperimentRecord, Ending, Sequence[RunRecord]]:
    """Begin, or carry on, and measure to the end."""
    plan, directory, _source = loaded
    runs = expand(plan, cases)
    names = tuple(case.name for case in cases)
    with (
        ProgressLine(output.console, plan.measure.window, shown=not output.quiet) as line,
        open_session(keep=bundle.folder.resolve()) as session,
    ):
        progress = ExperimentProgress(line, output, session.interrupts, tuple(sides), len(runs))
        session.watcher = progress
        undertaking = Undertaking(plan, directory, names, runs, sides, session)
        head = begin(bundle, undertaking, progress.look, output.tell, ["envdyno", *sys.argv[1:]])
        session.interrupts.patience = 2
        history = History.of(bundle.records())
        progress.begin_measuring(history.records)
        experiment = _experiment(head, undertaking, journal, history)
        experiment.hooks = Hooks(progress.begin, progress.end, lambda: bool(session.interrupts.arrived))
        return head, experiment.run_all(), history.records


def _experiment(
    head: ExperimentRecord, undertaking: Undertaking, journal: Journal, history: History
) -> Experiment:
    plan, sides = undertaking.plan, undertaking.sides
    gate = plan.gate or GateSection()
    executor = PlannedRuns(
        plan=plan,
        sides=sides,
        watches={side.name: SideWatch(sides[side.name], side) for side in head.sides},
        session=undertaking.session,
        cwd=Path(head.working_directory),
        canary_limit=gate.canary_limit,
    )
    settings = plan.experiment
    return Experiment(
        runs=undertaking.runs,
        executor=executor,
        keep=journal.append,
        limits=Limits(settings.budget, settings.retries, settings.disturbed_repeats),
        not_measured={**head.misaligned, **head.cannot_run},
        decided=lambda records: decided_cases(head, records, plan.gate),
        history=history,
    )


def _conclude(
    bundle: Bundle,
    head: ExperimentRecord,
    plan: ExperimentPlan,
    records: Sequence[RunRecord],
    ending: Ending,
    output: AbOutput,
) -> int:
    """Judge, show, and return the exit code."""
    judgements = judge_experiment(head, records, plan.gate, today=today())
    code = show_judgements(
        head, judgements, records, judged=plan.gate is not None, tell=output.tell, width=output.width
    )
    if ending is Ending.COMPLETE and plan.experiment.aa:
        _keep_floors(head, judgements, output)
    output.tell(f"The bundle is {bundle.folder}: `envdyno gate {bundle.folder}` judges it again.")
    for line in _of_ending(ending, plan, records, bundle):
        output.tell(line)
    if ending is Ending.INTERRUPTED:
        return ExitCode.INTERRUPTED
    return ExitCode.INCOMPARABLE if ending is Ending.SIDE_CHANGED else code


def _of_ending(
    ending: Ending, plan: ExperimentPlan, records: Sequence[RunRecord], bundle: Bundle
) -> Iterable[str]:
    """Return what is to be said of an experiment that did not do all that was planned."""
    if ending is Ending.COMPLETE:
        return []
    if ending is Ending.BUDGET:
        budget = format_duration(plan.experiment.budget or 0.0)
        return [f"The time budget of {budget} is spent; the pairs left out can be made: {_resume(bundle)}"]
    if ending is Ending.INTERRUPTED:
        return [f"Interrupted; carry it on: {_resume(bundle)}"]
    failure = records[-1].failure
    reason = failure.message if failure else "a side is not what it was."
    return [f"envdyno: {line}" if not number else line for number, line in enumerate(reason.splitlines())]


def _resume(bundle: Bundle) -> str:
    return f"envdyno ab --resume {bundle.folder}"


def _keep_floors(head: ExperimentRecord, judgements: Sequence[Judgement], output: AbOutput) -> None:
    for one in judgements[:1]:
        try:
            path = keep_floors(measure_noise_floors(one.evidence), head.experiment_id)
            output.tell(f"The noise floors of this machine are kept in {path}.")
        except (OSError, ValueError) as error:
            output.tell(f"! The noise floors cannot be kept: {error}")
