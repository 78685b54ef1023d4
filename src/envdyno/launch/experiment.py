"""Runs an experiment: every planned run in order, each recorded when it ends, until all is decided.

What is settled stays settled: a run with a final record is never made again, so that an experiment can be
killed at any moment and carried on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from envdyno.launch.canary import canary_per_s
from envdyno.launch.measure import prepare
from envdyno.launch.planned import entry_of, request_of, skipped_record
from envdyno.launch.quiet import wait_until_idle
from envdyno.launch.run import execute
from envdyno.launch.run_record import make_record
from envdyno.launch.session import Session
from envdyno.plan.command_line import run_arguments
from envdyno.plan.expand import Need, PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.record.journal import Journal
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.sides.prepared import PreparedSide
from envdyno.sides.proof import require_unchanged

FAILED = (Status.FAILED, Status.TIMEOUT, Status.KILLED, Status.INVALID)


class Ending(str, Enum):
    """Why an experiment ended."""

    COMPLETE = "complete"
    """Everything planned was done, or nothing more could be decided."""
    BUDGET = "budget"
    INTERRUPTED = "interrupted"


class Undecided(Protocol):
    """Asks the judge which cases more pairs could still decide."""

    def __call__(self, records: Sequence[RunRecord]) -> frozenset[str]:
        """Return the names of these cases."""


@dataclass
class Hooks:
    """What an experiment tells as it goes."""

    begin: Callable[[PlannedRun, int, int], None] = lambda _run, _done, _total: None
    """A planned run begins: run, planned runs settled so far, planned runs at most."""
    end: Callable[[RunRecord], None] = lambda _record: None
    finish_after_this: Callable[[], bool] = lambda: False
    """Whether the user has asked to end after the run in hand."""


@dataclass
class Experiment:
    """An experiment that is being run."""

    plan: ExperimentPlan
    runs: Sequence[PlannedRun]
    sides: Mapping[str, PreparedSide]
    not_measured: Mapping[str, str]
    """Cases that are not measured, and why."""
    session: Session
    journal: Journal
    undecided: Undecided
    hooks: Hooks = field(default_factory=Hooks)
    records: list[RunRecord] = field(default_factory=list)
    """All records so far, those of an earlier session included."""

    def run_all(self) -> Ending:
        """Make every planned run that is not settled yet.

        Raises:
            SideError: the code of a side was changed meanwhile.
            JournalError: a record cannot be written; earlier ones are safe.
        """
        began = time.monotonic()
        settled = {
            record.experiment.planned_id
            for record in self.records
            if record.experiment is not None and record.experiment.final
        }
        open_cases: frozenset[str] | None = None
        round_of: int | None = None
        for run in self.runs:
            if run.id in settled:
                continue
            if run.need is Need.IF_UNDECIDED and run.pair != round_of:
                round_of = run.pair
                open_cases = self.undecided(self.records)
            reason = self._why_not(run, open_cases)
            if reason is not None:
                self._skip(run, reason)
            elif self._out_of_time(began, run):
                return self._end_by_budget(settled)
            elif not self._settle(run, len(settled)):
                return Ending.INTERRUPTED
            settled.add(run.id)
            if self.hooks.finish_after_this():
                return Ending.INTERRUPTED
        return Ending.COMPLETE

    def _why_not(self, run: PlannedRun, open_cases: frozenset[str] | None) -> str | None:
        if run.case in self.not_measured:
            return self.not_measured[run.case]
        if run.need is Need.IF_UNDECIDED and open_cases is not None and run.case not in open_cases:
            return "More pairs are not needed: the case is decided."
        return None

    def _out_of_time(self, began: float, run: PlannedRun) -> bool:
        """Return whether the budget is spent. A pair that was begun is completed."""
        budget = self.plan.experiment.budget
        return budget is not None and run.position == 0 and time.monotonic() - began > budget

    def _end_by_budget(self, settled: set[str]) -> Ending:
        for run in self.runs:
            if run.id not in settled:
                self._skip(run, "The time budget was spent before this run.")
        return Ending.BUDGET

    def _skip(self, run: PlannedRun, reason: str) -> None:
        request = request_of(self.plan, run, self.sides[run.side])
        self._keep(skipped_record(request, prepare(request), entry_of(run, attempt=0, final=True), reason))

    def _settle(self, run: PlannedRun, done: int) -> bool:
        """Make one planned run, repeated where it was disturbed or failed; return false when interrupted."""
        experiment = self.plan.experiment
        repeats, retries, attempt = experiment.disturbed_repeats, experiment.retries, self._attempts(run)
        while True:
            self.hooks.begin(run, done, len(self.runs))
            record = self._make(run, attempt, repeats, retries)
            self._keep(record)
            if record.status is Status.INTERRUPTED:
                return False
            if record.experiment is None or record.experiment.final:
                return True
            attempt += 1
            if record.status in FAILED:
                retries -= 1
            else:
                repeats -= 1

    def _attempts(self, run: PlannedRun) -> int:
        """Return how often the run was tried in earlier sessions."""
        return sum(
            1
            for record in self.records
            if record.experiment is not None and record.experiment.planned_id == run.id
        )

    def _make(self, run: PlannedRun, attempt: int, repeats: int, retries: int) -> RunRecord:
        side = self.sides[run.side]
        require_unchanged(side)
        request = request_of(self.plan, run, side)
        site = prepare(request)
        wait_s = self.plan.experiment.wait_idle
        if wait_s is not None:
            wait_until_idle(site.chosen_cpus, request.foreign_load_limit_cores, wait_s)
        canary = canary_per_s()
        outcome = execute(request, site, self.session)
        record = make_record(outcome, run_arguments(request))
        disturbed = (
            record.machine is not None
            and record.machine.foreign_cores_chosen > request.foreign_load_limit_cores
        )
        again = (record.status in FAILED and retries > 0) or (
            record.status is Status.OK and disturbed and repeats > 0
        )
        final = record.status is not Status.INTERRUPTED and not again
        entry = entry_of(run, attempt=attempt, final=final, disturbed=disturbed, canary_per_s=canary)
        return record.model_copy(update={"experiment": entry})

    def _keep(self, record: RunRecord) -> None:
        self.journal.append(record)
        self.records.append(record)
        self.hooks.end(record)
