"""Runs an experiment: every planned run in order, each recorded when it ends, until all is decided.

Nothing here starts a process: an :class:`Executor` makes one run. What is settled stays settled: a run with
a final record is never made again, so that an experiment can be killed at any moment and carried on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from envdyno.experiment.history import FAILED, History
from envdyno.launch.failure import Interrupted
from envdyno.plan.expand import Need, PlannedRun
from envdyno.record.experiment import ExperimentEntry
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

OUT_OF_TIME = "The time budget was spent before it began."


class Ending(str, Enum):
    """Why an experiment ended."""

    COMPLETE = "complete"
    """Everything planned was done, or nothing more could be decided."""
    BUDGET = "budget"
    """Pairs were left out for lack of time; more time and ``--resume`` makes them."""
    INTERRUPTED = "interrupted"
    SIDE_CHANGED = "side_changed"
    """A side is not what it was, or did not run its own code."""


class Made(NamedTuple):
    """A run that was made, well or not."""

    record: RunRecord
    canary_per_s: float | None = None
    canary_tries: int = 1
    disturbed: bool = False
    """Foreign load above the limit."""
    folder: str | None = None
    side_changed: bool = False
    """The side is not what it was before the first run; nothing more may be measured."""


class Executor(Protocol):
    """Makes planned runs."""

    def make(self, run: PlannedRun, attempt: int, canary_of_pair: float | None) -> Made:
        """Make one run in fresh processes.

        Args:
            run: what to run.
            attempt: 0 for the first try.
            canary_of_pair: the canary's speed beside the run that this one is paired with, if it was made.

        Raises:
            Interrupted: the user asked to end before the run began.
        """

    def skip(self, run: PlannedRun, reason: str) -> RunRecord:
        """Return the record of a run that is not made."""


@dataclass(frozen=True)
class Limits:
    """How long to go on, and how often to try again."""

    budget_s: float | None = None
    """No pair begins later than this after the start; counted anew when an experiment is resumed."""
    retries: int = 0
    """Of a failed run."""
    disturbed_repeats: int = 0


@dataclass
class Hooks:
    """What an experiment tells as it goes."""

    begin: Callable[[PlannedRun, int, int], None] = lambda _run, _settled, _planned: None
    """A run begins; how many planned runs are settled, and how many there are at most."""
    end: Callable[[RunRecord], None] = lambda _record: None
    asked_to_end: Callable[[], bool] = lambda: False
    """Whether the user wants no further run to begin."""


@dataclass
class Experiment:
    """An experiment that is being run."""

    runs: Sequence[PlannedRun]
    executor: Executor
    keep: Callable[[RunRecord], None]
    """Writes a record; it is on the disk when this returns."""
    limits: Limits = Limits()
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """Cases that are not measured, and why."""
    decided: Callable[[Sequence[RunRecord]], Mapping[str, str]] = lambda _records: {}
    """Asks the judge for which cases further pairs would change nothing, and why."""
    left_out: Callable[[PlannedRun, Sequence[RunRecord]], str | None] = lambda _run, _records: None
    """Asked before a run is made: why it is not, by what the earlier ones told."""
    hooks: Hooks = field(default_factory=Hooks)
    history: History = field(default_factory=History)
    clock: Callable[[], float] = time.monotonic

    def run_all(self) -> Ending:
        """Make every planned run that is not settled yet.

        Raises:
            JournalError: a record cannot be written; earlier ones are safe.
        """
        began = self.clock()
        left_out = False
        judged: tuple[int, Mapping[str, str]] | None = None
        for run in self.runs:
            if run.id in self.history.settled:
                continue
            if self.hooks.asked_to_end():
                return Ending.INTERRUPTED
            if run.need is Need.IF_UNDECIDED and (judged is None or judged[0] != run.pair):
                judged = run.pair, self.decided(self.history.records)
            reason = self._why_not(run, {} if judged is None else judged[1])
            if reason is not None:
                self._skip(run, reason, final=True)
            elif self._is_late(run, began):
                left_out = True
                self._skip(run, OUT_OF_TIME, final=False)
            elif (ending := self._settle(run)) is not None:
                return ending
        return Ending.BUDGET if left_out else Ending.COMPLETE

    def _why_not(self, run: PlannedRun, decided: Mapping[str, str]) -> str | None:
        if run.case in self.not_measured:
            return self.not_measured[run.case]
        if (given_up := self.history.given_up(run)) is not None:
            return given_up
        if (reason := self.left_out(run, self.history.records)) is not None:
            return reason
        return decided.get(run.case) if run.need is Need.IF_UNDECIDED else None

    def _is_late(self, run: PlannedRun, began: float) -> bool:
        """Return whether the budget is spent. A pair that was begun is completed."""
        budget_s = self.limits.budget_s
        return budget_s is not None and self.clock() - began > budget_s and not self.history.is_begun(run)

    def _skip(self, run: PlannedRun, reason: str, *, final: bool) -> None:
        if final or not self.history.was_skipped(run, reason):
            record = self.executor.skip(run, reason)
            entry = _entry(run, attempt=self.history.attempts(run), final=final)
            self._keep(record.model_copy(update={"experiment": entry}))

    def _settle(self, run: PlannedRun) -> Ending | None:
        """Make one planned run, again where it failed or was disturbed, until it is settled."""
        while True:
            if self.hooks.asked_to_end():
                return Ending.INTERRUPTED
            self.hooks.begin(run, len(self.history.settled), len(self.runs))
            attempt = self.history.attempts(run)
            try:
                made = self.executor.make(run, attempt, self.history.canary_of_pair(run))
            except Interrupted:
                return Ending.INTERRUPTED
            interrupted = made.record.status is Status.INTERRUPTED
            final = not (interrupted or made.side_changed or self._again(run, made))
            self._keep(_placed(made, run, attempt, final))
            if interrupted:
                return Ending.INTERRUPTED
            if made.side_changed:
                return Ending.SIDE_CHANGED
            if final:
                return None

    def _again(self, run: PlannedRun, made: Made) -> bool:
        """Return whether a run is to be repeated: for its failure, or for the load; never for its figures."""
        if made.record.status in FAILED:
            return self.history.failures(run) < self.limits.retries
        return made.disturbed and self.history.disturbed(run) < self.limits.disturbed_repeats

    def _keep(self, record: RunRecord) -> None:
        self.keep(record)
        self.history.add(record)
        self.hooks.end(record)


def _placed(made: Made, run: PlannedRun, attempt: int, final: bool) -> RunRecord:
    """Return the record with its place in the experiment."""
    entry = _entry(run, attempt=attempt, final=final)
    told = {
        "disturbed": made.disturbed,
        "canary_per_s": made.canary_per_s,
        "canary_tries": made.canary_tries,
        "folder": made.folder,
    }
    return made.record.model_copy(update={"experiment": entry.model_copy(update=told)})


def _entry(run: PlannedRun, *, attempt: int, final: bool) -> ExperimentEntry:
    return ExperimentEntry(
        planned_id=run.id,
        case=run.case,
        side=run.side,
        pair=run.pair,
        position=run.position,
        attempt=attempt,
        final=final,
        disturbed=False,
        canary_per_s=None,
    )
