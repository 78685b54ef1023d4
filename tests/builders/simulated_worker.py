"""Workers in fake time: the real workload, stepping loop and log, beside a witness of what was completed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fake_clock import FakeClock

from envdyno.agent.measure.step_log import StepLog
from envdyno.agent.measure.window import Edges, Stepper
from envdyno.agent.workloads.contract import Autoreset, Tally, WorkloadSpec
from envdyno.agent.workloads.synthetic import Distribution, StepTime, SyntheticWorkload, Wait
from envdyno.agent.workloads.synthetic_fault import Fault, FaultPlan

SUB_WINDOWS = 5
STEPS_AFTER = 2
"""A worker steps on until every other one has passed the end of the window."""


@dataclass(frozen=True)
class Completion:
    """One vector step, as somebody beside the worker saw it."""

    at_ns: int
    tally: Tally


@dataclass(frozen=True)
class Pace:
    """How a simulated worker steps."""

    num_envs: int = 4
    step_ns: int = 1000
    distribution: Distribution = Distribution.CONSTANT
    noise: float = 0.0
    drift: float = 0.0
    reset_rate: float = 0.0
    autoreset: Autoreset = Autoreset.SAME_STEP
    begins_ns: int = 0
    """When it takes its first step: workers are not in step with each other."""
    seed: int = 0


@dataclass
class SimulatedWorker:
    """A worker that has been through one window."""

    num_envs: int
    log: StepLog
    edges: Edges
    stepper: Stepper
    completions: list[Completion] = field(default_factory=list)

    def inside(self, start_ns: int, end_ns: int) -> list[Tally]:
        """What was completed after ``start_ns`` and not after ``end_ns``, by the witness alone."""
        return [seen.tally for seen in self.completions if start_ns < seen.at_ns <= end_ns]


def through_window(pace: Pace, start_ns: int, end_ns: int) -> SimulatedWorker:
    """Step a synthetic workload in its own fake time, from before the window to after it."""
    clock = FakeClock(pace.begins_ns)
    workload = synthetic(pace, clock)
    seen: list[Completion] = []

    def step(actions: Any) -> Tally:
        tally = workload.step(actions)
        seen.append(Completion(clock.ns(), tally))
        return tally

    return _measure(pace.num_envs, step, clock, seen, start_ns, end_ns)


def synthetic(pace: Pace, clock: FakeClock) -> SyntheticWorkload:
    """The synthetic workload on a fake clock."""
    spec = WorkloadSpec(pace.num_envs, autoreset=pace.autoreset, substeps=3, step_dt_s=0.02)
    draw = random.Random(pace.seed)
    times = StepTime(pace.step_ns / 1e9, pace.distribution, pace.noise, pace.drift, draw)
    faults = FaultPlan(Fault.NONE, "window", 0, 0.0)
    return SyntheticWorkload(
        spec, times, Wait.SLEEP, pace.reset_rate, draw, faults, clock=clock.s, sleep=clock.sleep
    )


def through_synchronised_window(pace: Pace, device_ns: int, start_ns: int, end_ns: int) -> SimulatedWorker:
    """Step a workload whose steps return at once and complete later, one after the other, on a device."""
    clock = FakeClock(pace.begins_ns)
    seen: list[Completion] = []
    tally = Tally(pace.num_envs)

    def step(actions: Any) -> Tally:
        clock.advance(pace.step_ns)
        free_at = seen[-1].at_ns if seen else 0
        seen.append(Completion(max(free_at, clock.ns()) + device_ns, tally))
        return tally

    def synchronize() -> None:
        if seen:
            clock.advance(max(0, seen[-1].at_ns - clock.ns()))

    return _measure(pace.num_envs, step, clock, seen, start_ns, end_ns, synchronize=synchronize)


def _measure(
    num_envs: int,
    step: Callable[[Any], Tally],
    clock: FakeClock,
    seen: list[Completion],
    start_ns: int,
    end_ns: int,
    **parts: Any,
) -> SimulatedWorker:
    stepper = Stepper(step, [None], clock.ns, **parts)
    log = StepLog(num_envs, start_ns, end_ns, SUB_WINDOWS)
    edges = stepper.log_window(log)
    for _ in range(STEPS_AFTER):
        stepper.once()
    log.fold()
    return SimulatedWorker(num_envs, log, edges, stepper, seen)
