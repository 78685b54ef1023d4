"""Makes the planned runs of an experiment in real processes, each with its canary beside it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from envdyno.experiment.canary import canary_per_s
from envdyno.experiment.experiment import Made
from envdyno.experiment.side_watch import SideWatch
from envdyno.experiment.unmade import invalid_for_its_side, unmade_record
from envdyno.host.load import sample_load
from envdyno.host.site import Site, survey
from envdyno.launch.failure import Interrupted
from envdyno.launch.measure import prepare
from envdyno.launch.run import execute
from envdyno.launch.run_record import make_record
from envdyno.launch.session import Session
from envdyno.plan.command_line import run_arguments
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.planned_request import planned_request
from envdyno.plan.run_request import RunRequest
from envdyno.plan.usage_error import UsageError
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.sides.prepared import PreparedSide
from envdyno.sides.problems import SideError

CANARY_PAUSES_S = (0.5, 1.0, 2.0)
"""A canary that moved is tried again after these pauses: most disturbances of a machine are short."""


def request_of(plan: ExperimentPlan, run: PlannedRun, side: PreparedSide, cwd: Path) -> RunRequest:
    """Return what a planned run asks of the launcher, in the side's own environment.

    ``cwd`` is for sides that name no working directory: where the experiment was begun.
    """
    request = planned_request(plan, run, side)
    changes = {"whole_environ": side.child_environ(os.environ), "cwd": side.cwd or cwd}
    return request.model_copy(update=changes)


@dataclass
class PlannedRuns:
    """Makes planned runs; see :class:`~envdyno.experiment.experiment.Executor`."""

    plan: ExperimentPlan
    sides: Mapping[str, PreparedSide]
    watches: Mapping[str, SideWatch]
    session: Session
    cwd: Path
    """Working directory of sides that name none."""
    canary_limit: float
    """A canary within a pair that differs by more, as a share, voids the pair."""
    canary: Callable[[], float | None] = canary_per_s
    sleep: Callable[[float], None] = time.sleep
    _surveyed: Site | None = field(default=None, init=False)

    def make(self, run: PlannedRun, attempt: int, canary_of_pair: float | None) -> Made:
        """Make one run; whatever goes wrong is part of its record.

        Raises:
            Interrupted: the user asked to end before the run began.
            ScratchError: no folder for its logs can be made.
        """
        side, watch = self.sides[run.side], self.watches[run.side]
        request = request_of(self.plan, run, side, self.cwd)
        try:
            watch.check_before()
        except SideError as error:
            return Made(self._unmade(request, Status.FAILED, "side", str(error)), side_changed=True)
        try:
            site = prepare(request)
            self._await_quiet(site, request.foreign_load_limit_cores)
            speed, tries = self._canary_beside(canary_of_pair)
            outcome = execute(request, site, self.session, name=f"{run.id}.{attempt}")
        except UsageError as error:
            return Made(self._unmade(request, Status.FAILED, "usage", str(error)))
        record = make_record(outcome, run_arguments(request))
        load = record.machine.foreign_cores_chosen if record.machine is not None else 0.0
        made = Made(
            record,
            canary_per_s=speed,
            canary_tries=tries,
            disturbed=load > request.foreign_load_limit_cores,
            folder=f"runs/{outcome.folder.name}",
        )
        try:
            watch.check_after(record)
        except SideError as error:
            return made._replace(record=invalid_for_its_side(record, error), side_changed=True)
        return made

    def skip(self, run: PlannedRun, reason: str) -> RunRecord:
        """Return the record of a run that is not made."""
        request = request_of(self.plan, run, self.sides[run.side], self.cwd)
        return self._unmade(request, Status.SKIPPED, "skipped", reason)

    def _await_quiet(self, site: Site, limit_cores: float) -> None:
        """Wait for a quiet machine as long as the plan says; then run all the same.

        A run beside other work is marked as disturbed by what it meets. Hours of measuring are not thrown
        away because somebody compiles.
        """
        patience_s = self.plan.experiment.wait_idle
        if patience_s is None:
            return
        deadline = time.monotonic() + patience_s
        while sample_load().busy_cores(site.chosen_cpus) > limit_cores and time.monotonic() < deadline:
            if self.session.interrupts.arrived:
                raise Interrupted(self.session.interrupts.arrived[-1])

    def _canary_beside(self, canary_of_pair: float | None) -> tuple[float | None, int]:
        """Return the canary's speed now, and how often it was tried.

        Where it moved within the pair, the machine gets a few moments to come back.
        """
        speed, tries = self.canary(), 1
        for pause_s in CANARY_PAUSES_S:
            if speed is None or canary_of_pair is None or self.session.interrupts.arrived:
                break
            if abs(math.log(speed / canary_of_pair)) <= self.canary_limit:
                break
            self.sleep(pause_s)
            speed, tries = self.canary(), tries + 1
        return speed, tries

    def _unmade(self, request: RunRequest, status: Status, kind: str, reason: str) -> RunRecord:
        if self._surveyed is None:
            self._surveyed = survey(request.placement)
        return unmade_record(request, self._surveyed, status, kind, reason)
