"""Runs a sweep: scouting where it is asked for, then the grid, each run recorded when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from envdyno.experiment.experiment import Ending, Executor, Experiment, Hooks, Limits
from envdyno.experiment.history import CanaryUnit, History
from envdyno.experiment.sweep_course import SweepCourse
from envdyno.plan.expand import PlannedRun
from envdyno.record.run_record import RunRecord


@dataclass
class SweepHooks:
    """What a sweep tells as it goes."""

    stage: Callable[[SweepCourse, int], None] = lambda _course, _settled: None
    """Scouting or the grid begins; how many runs are settled."""
    grid: Callable[[SweepCourse], None] = lambda _course: None
    """Scouting has led to a grid, and none of its runs has begun: it is written down now."""
    runs: Hooks = field(default_factory=Hooks)


@dataclass
class Sweep:
    """A sweep that is being run."""

    course: SweepCourse
    """As far as it is known; the grid comes in when scouting has ended."""
    course_after: Callable[[Sequence[RunRecord]], SweepCourse]
    """Returns the course that the records lead to."""
    executor: Executor
    keep: Callable[[RunRecord], None]
    """Writes a record; it is on the disk when this returns."""
    limits: Limits = field(default_factory=Limits)
    left_out: Callable[[PlannedRun, Sequence[RunRecord]], str | None] = lambda _run, _records: None
    """Why a scouting run is not made."""
    hooks: SweepHooks = field(default_factory=SweepHooks)
    history: History = field(default_factory=lambda: History(CanaryUnit.BLOCK))
    clock: Callable[[], float] = time.monotonic

    def run_all(self) -> Ending:
        """Make every run that is not settled yet.

        Raises:
            JournalError: a record cannot be written; earlier ones are safe.
        """
        began = self.clock()
        if self.course.grid is None:
            ending = self._measure(began)
            if ending is not Ending.COMPLETE:
                return ending
            self.course = self.course_after(self.history.records)
            if self.course.grid is None:
                return ending
            self.hooks.grid(self.course)
        return self._measure(began)

    def _measure(self, began: float) -> Ending:
        """Make the runs that are known; the budget is that of scouting and grid together."""
        budget_s = self.limits.budget_s
        left_s = None if budget_s is None else max(0.0, budget_s - (self.clock() - began))
        self.hooks.stage(self.course, len(self.history.settled))
        return Experiment(
            runs=self.course.runs,
            executor=self.executor,
            keep=self.keep,
            limits=replace(self.limits, budget_s=left_s),
            left_out=self.left_out,
            hooks=self.hooks.runs,
            history=self.history,
            clock=self.clock,
        ).run_all()
