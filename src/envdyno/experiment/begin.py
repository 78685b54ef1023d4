"""Beginning an experiment: a new one after a look at every side, or one that is carried on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from envdyno.experiment.floor_store import read_floors
from envdyno.experiment.head import check_same, make_head
from envdyno.experiment.planned_runs import request_of
from envdyno.experiment.preflight import check_before, machine_notices
from envdyno.experiment.rooms import variables_that_win
from envdyno.host.site import survey
from envdyno.launch.fingerprinting import machine_identity
from envdyno.launch.session import Session
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.record.bundle import Bundle
from envdyno.record.experiment import ExperimentRecord
from envdyno.sides.comparison import check_sides
from envdyno.sides.prepared import PreparedSide


@dataclass(frozen=True)
class Undertaking:
    """An experiment that is ready to begin: what is to be run, and on what."""

    plan: ExperimentPlan
    directory: Path
    """Where the plan's relative paths start."""
    cases: Sequence[str]
    """Their names, in the plan's order."""
    runs: Sequence[PlannedRun]
    sides: Mapping[str, PreparedSide]
    session: Session
    cannot_run: Mapping[str, str] = field(default_factory=dict)
    """Cases that are known not to be possible here, and why."""


def begin(
    bundle: Bundle,
    undertaking: Undertaking,
    look: Callable[[PlannedRun], None],
    tell: Callable[[str], None],
    command: Sequence[str],
) -> ExperimentRecord:
    """Return the head of the experiment: that of the bundle, or a new one, which is written.

    Args:
        bundle: where it is kept.
        undertaking: what is to be run.
        look: told of every build before anything is measured.
        tell: told what the user should know before it begins.
        command: the command line, for the record.

    Raises:
        UsageError: it cannot be resumed, or no case can be built.
        SideError: the sides are not what they should be, or cannot be compared.
        Interrupted: the user asked to end.
    """
    plan, runs, sides, session = (
        undertaking.plan,
        undertaking.runs,
        undertaking.sides,
        undertaking.session,
    )
    # Before an experiment the machine is as it will be for every run: one survey tells who it is.
    first = runs[0]
    site = survey(request_of(plan, first, sides[first.side], Path.cwd()).placement)
    machine = machine_identity(site)
    if bundle.has_experiment():
        head = bundle.experiment()
        check_same(head, plan, runs, sides, machine)
        return head
    checks = check_sides(tuple(sides.values()), plan.allowances)
    preflight = check_before(plan, runs, sides, session, look)
    preflight.notices += tuple(machine_notices(site))
    preflight.cannot_run |= undertaking.cannot_run
    if plan.sweep is not None:
        preflight.notices += tuple(variables_that_win(sides[first.side].child_environ(os.environ)))
    for notice in preflight.notices:
        tell(f"! {notice}")
    head = make_head(
        plan,
        undertaking.directory,
        undertaking.cases,
        runs,
        sides,
        checks,
        preflight,
        machine=machine,
        floors=read_floors(),
        command=command,
    )
    bundle.write_experiment(head)
    return head
