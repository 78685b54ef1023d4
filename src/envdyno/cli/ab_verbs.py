"""What ``envdyno ab`` does: prepare the sides, look before measuring, run, judge, show."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from rich.text import Text

from envdyno.cli.ab_progress import ExperimentProgress
from envdyno.cli.console import stderr_console
from envdyno.cli.exit_code import ExitCode
from envdyno.cli.judged import show_judgements
from envdyno.judge.noise_floor import measure_noise_floors
from envdyno.launch.experiment import Ending, Experiment, Hooks
from envdyno.launch.experiment_head import check_same, make_head
from envdyno.launch.floor_store import keep_floors, read_floors
from envdyno.launch.judging import Judgement, gate_of, judge_experiment, today
from envdyno.launch.preflight import check_before
from envdyno.launch.session import Session, open_session
from envdyno.plan.cases import Unknown, cases_of, catalogue
from envdyno.plan.expand import PlannedRun, expand
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.experiment_lock import experiment_lock
from envdyno.plan.read_plan import LoadedPlan
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import Bundle
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.report.glyphs import glyphs_for
from envdyno.report.progress import ProgressLine
from envdyno.sides.comparison import SideChecks, check_sides
from envdyno.sides.prepare import prepared_sides
from envdyno.sides.prepared import PreparedSide


def run_experiment(
    loaded: LoadedPlan, *, out: Path | None, resume: Path | None, as_json: bool, quiet: bool
) -> int:
    """Run an experiment to its verdict; return the exit code."""
    bundle = _bundle(out, resume)
    console = stderr_console()
    glyphs = glyphs_for(console.encoding)

    def tell(text: str) -> None:
        console.print(Text(glyphs.fit(text)))

    plan = loaded.plan
    own_python = any(side.python or side.requirements for side in plan.sides.values())
    runs = expand(plan, cases_of(plan, catalogue(), Unknown.KEEP if own_python else Unknown.REFUSE))
    purpose = f"envdyno ab into {bundle.folder}"
    with (
        experiment_lock(purpose, wait_s=plan.experiment.wait_idle or 0.0),
        prepared_sides(
            plan.side_requests(loaded.directory), notify=lambda notice: tell(f"! {notice}")
        ) as sides,
        ProgressLine(console, plan.measure.window, shown=not quiet) as line,
        open_session(line, bundle.folder.resolve()) as session,
    ):
        session.interrupts.patience = 2
        made = {side.name: side for side in sides}
        progress = ExperimentProgress(line, None if quiet else tell, len(runs))
        head = _head(bundle, plan, runs, made, check_sides(sides, plan.allowances), session, progress)
        ending, records = _measure(bundle, plan, runs, made, head, session, progress, as_json)
    return _conclude(bundle, head, records, ending, tell)


def _bundle(out: Path | None, resume: Path | None) -> Bundle:
    """Return the bundle to write to.

    Raises:
        UsageError: the folder holds another experiment, or none where one is to be resumed.
    """
    if resume is not None:
        if out is not None:
            raise UsageError("--resume names the folder already; leave --out away.")
        bundle = Bundle(resume)
        bundle.experiment()
        return bundle
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    bundle = Bundle.create(out or Path(f"envdyno-{stamp}"))
    if bundle.has_experiment():
        raise UsageError(
            f"{bundle.folder} holds an experiment already. Carry it on with --resume {bundle.folder}, "
            "or choose another --out."
        )
    return bundle


def _head(
    bundle: Bundle,
    plan: ExperimentPlan,
    runs: Sequence[PlannedRun],
    sides: Mapping[str, PreparedSide],
    checks: SideChecks,
    session: Session,
    progress: ExperimentProgress,
) -> ExperimentRecord:
    """Return the head of the experiment: that of the bundle, or a new one after a look at every side."""
    if bundle.has_experiment():
        head = bundle.experiment()
        check_same(head, plan, sides)
        return head
    preflight = check_before(plan, runs, sides, session, progress.look)
    head = make_head(plan, runs, sides, checks, preflight, sys.argv)
    bundle.write_experiment(head)
    return head


def _measure(
    bundle: Bundle,
    plan: ExperimentPlan,
    runs: Sequence[PlannedRun],
    sides: Mapping[str, PreparedSide],
    head: ExperimentRecord,
    session: Session,
    progress: ExperimentProgress,
    as_json: bool,
) -> tuple[Ending, list[RunRecord]]:
    journal = bundle.journal()
    earlier = list(bundle.records())

    def undecided(records: Sequence[RunRecord]) -> frozenset[str]:
        judgements = judge_experiment(head, records, gate_of(head), floors=read_floors(), today=today())
        return frozenset(case for one in judgements for case in one.report.wants_pairs)

    def end(record: RunRecord) -> None:
        progress.end(record)
        if as_json:
            sys.stdout.buffer.write(record.to_line().encode() + b"\n")
            sys.stdout.buffer.flush()

    def finish() -> bool:
        return bool(session.interrupts.arrived)

    experiment = Experiment(
        plan=plan,
        runs=runs,
        sides=sides,
        not_measured={**head.misaligned, **head.cannot_run},
        session=session,
        journal=journal,
        undecided=undecided,
        hooks=Hooks(progress.begin, end, finish),
        records=earlier,
    )
    try:
        return experiment.run_all(), experiment.records
    finally:
        journal.close()


def _conclude(
    bundle: Bundle,
    head: ExperimentRecord,
    records: Sequence[RunRecord],
    ending: Ending,
    tell: Callable[[str], None],
) -> int:
    """Judge, show, and return the exit code."""
    judgements = judge_experiment(head, records, gate_of(head), floors=read_floors(), today=today())
    code = show_judgements(head, judgements, judged=gate_of(head) is not None, tell=tell)
    if head.plan["experiment"]["aa"]:
        for one in judgements:
            _keep_floors(one, tell)
    tell(f"The bundle is {bundle.folder}: `envdyno gate {bundle.folder}` judges it again.")
    if ending is Ending.INTERRUPTED:
        tell(f"Interrupted; carry it on with --resume {bundle.folder}.")
        return ExitCode.INTERRUPTED
    return code


def _keep_floors(one: Judgement, tell: Callable[[str], None]) -> None:
    try:
        tell(f"Noise floors of this machine are kept in {keep_floors(measure_noise_floors(one.evidence))}.")
    except (OSError, ValueError) as error:
        tell(f"! The noise floors cannot be kept: {error}")
