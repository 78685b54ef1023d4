"""How long an experiment should take, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from envdyno.plan.expand import Need, PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.quantities import format_duration
from envdyno.record.counted import counted

ASSUMED_OVERHEAD_S = 15.0
"""Start, import, build, warm-up and closing of a run nobody has timed yet."""


class DurationEstimate(NamedTuple):
    """An estimate, with its grounds."""

    certain_s: float
    """For the runs that are done in any case, if none is repeated."""
    longest_s: float
    """With all runs for undecided cases too, cut to the budget."""
    runs: int
    """Runs that are done in any case."""
    runs_at_most: int
    timed: int
    """Of the cases, how many have been timed before; the others are assumed."""
    cases: int

    def __str__(self) -> str:
        span = format_duration(self.certain_s)
        runs = counted(self.runs, "run")
        if self.runs_at_most > self.runs:
            span += f" to {format_duration(self.longest_s)}"
            runs += f", up to {self.runs_at_most} while cases are undecided"
        if self.timed == self.cases:
            basis = "all cases have been timed before"
        else:
            unknown = (
                "" if not self.timed else f" for {self.cases - self.timed} of {counted(self.cases, 'case')}"
            )
            basis = f"assuming {ASSUMED_OVERHEAD_S:.0f} s beside the window of each run{unknown}"
        return f"about {span}: {runs}, {basis}"


def estimate_duration(
    plan: ExperimentPlan, runs: Sequence[PlannedRun], overhead_s: Mapping[str, float] | None = None
) -> DurationEstimate:
    """Estimate the time for all runs.

    Args:
        plan: gives the window and the budget.
        runs: all planned runs.
        overhead_s: by case, the time of earlier runs beyond their window, where there were any.
    """
    known = overhead_s or {}
    certain = longest = 0.0
    for run in runs:
        seconds = plan.measure.window + known.get(run.case, ASSUMED_OVERHEAD_S)
        longest += seconds
        certain += seconds if run.need is Need.ALWAYS else 0.0
    if plan.experiment.budget is not None:
        longest = max(certain, min(longest, plan.experiment.budget))
    cases = {run.case for run in runs}
    return DurationEstimate(
        certain_s=certain,
        longest_s=longest,
        runs=sum(run.need is Need.ALWAYS for run in runs),
        runs_at_most=len(runs),
        timed=len(cases & set(known)),
        cases=len(cases),
    )
