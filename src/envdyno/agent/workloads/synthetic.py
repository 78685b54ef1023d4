"""The synthetic workload: as slow as it is told, with resets as it is told, and failing on order.

It needs no NumPy and no engine. Order, windows, counting, deadlines and verdicts are tested with it; with
``step_ms=0`` it does nothing at all, which shows what the measuring loop itself costs.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from envdyno.agent.workloads.contract import ArraySpec, Autoreset, BuildContext, Tally, WorkloadSpec
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.synthetic_fault import Fault, FaultPlan

OBSERVATION_COLUMNS = 4
RANGES: Mapping[str, tuple[float, float]] = {
    "step_ms": (0, math.inf),
    "row_us": (0, math.inf),
    "noise": (0, math.inf),
    "drift": (-1, math.inf),
    "reset_rate": (0, 1),
    "substeps": (1, math.inf),
    "action_dim": (1, math.inf),
    "slower_by": (0, math.inf),
    "children": (0, math.inf),
}
"""Lowest and highest value of the options that are numbers."""


class Distribution(str, Enum):
    """How step times scatter around their mean; ``noise`` is the relative scale."""

    CONSTANT = "constant"
    NORMAL = "normal"
    LOGNORMAL = "lognormal"
    HEAVY = "heavy"
    """Pareto with index 2.5: a finite mean, and now and then a very slow step."""
    BIMODAL = "bimodal"
    """One step in two is slower by ``noise``."""


class Wait(str, Enum):
    """How a step passes its time."""

    SLEEP = "sleep"
    SPIN = "spin"
    """Uses the CPU for the whole step."""


class StepTime:
    """Draws step durations in seconds: mean, scatter, drift per step, and one slow step of many.

    Args:
        mean_s: duration without noise and drift.
        distribution: shape of the scatter.
        noise: relative scale of the scatter.
        drift: relative growth a step, 0.001 makes step 1000 twice as long.
        draw: source of random numbers.
    """

    def __init__(
        self, mean_s: float, distribution: Distribution, noise: float, drift: float, draw: random.Random
    ) -> None:
        """Begin at step 0."""
        self._mean_s = mean_s
        self._distribution = distribution
        self._noise = noise
        self._drift = drift
        self._draw = draw
        self._steps = 0

    def next_s(self) -> float:
        """Return the duration of the next step; never negative."""
        factor = 1.0 + self._drift * self._steps
        self._steps += 1
        return max(0.0, self._mean_s * factor * self._scatter())

    def _scatter(self) -> float:
        if self._distribution is Distribution.NORMAL:
            return 1.0 + self._noise * self._draw.gauss(0.0, 1.0)
        if self._distribution is Distribution.LOGNORMAL:
            return math.exp(self._noise * self._draw.gauss(0.0, 1.0) - self._noise**2 / 2)
        if self._distribution is Distribution.HEAVY:
            return 1.0 + self._noise * (self._draw.paretovariate(2.5) - 5 / 3)
        if self._distribution is Distribution.BIMODAL:
            return 1.0 + self._noise * self._draw.choice((0.0, 1.0))
        return 1.0


class SyntheticWorkload:
    """A workload that only passes time. See :func:`build` for the options."""

    def __init__(
        self,
        spec: WorkloadSpec,
        step_time: StepTime,
        wait: Wait,
        reset_rate: float,
        draw: random.Random,
        faults: FaultPlan,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take clock and sleep as arguments, so that tests need not wait."""
        self.spec = spec
        self._step_time = step_time
        self._wait = wait
        self._reset_rate = reset_rate
        self._draw = draw
        self._faults = faults
        self._clock = clock
        self._sleep = sleep
        self._ended_before = 0
        self._steps = 0
        self._children: list[subprocess.Popen[bytes]] = []

    def step(self, actions: Any) -> Tally:  # noqa: ARG002 (the contract passes actions)
        """Pass the time of one step; return what it counts as."""
        self._faults.strike()
        self._pass(self._step_time.next_s())
        self._steps += 1
        rows = self.spec.num_envs
        reset_rows = self._ended_before if self.spec.autoreset is Autoreset.NEXT_STEP else 0
        episodes = self._ended_now(rows - reset_rows)
        self._ended_before = episodes
        nan = self._faults.rows_not_finite()
        return Tally(rows - reset_rows, reset_rows, episodes, nan, float(rows - reset_rows))

    def _ended_now(self, rows: int) -> int:
        """Return how many of ``rows`` episodes end: the expected number, rounded at random."""
        expected = rows * self._reset_rate
        whole = int(expected)
        return min(rows, whole + (self._draw.random() < expected - whole))

    def _pass(self, seconds: float) -> None:
        until = self._clock() + seconds
        if self._wait is Wait.SLEEP:
            self._sleep(seconds)
        while self._clock() < until:
            pass

    def observation(self) -> list[list[float]]:
        """Return rows that depend on the step alone, so that equal runs have equal hashes."""
        value = math.nan if self._faults.rows_not_finite() else self._steps / 8
        return [[value] * OBSERVATION_COLUMNS for _ in range(self.spec.num_envs)]

    def work(self) -> dict[str, int]:
        """Return running totals."""
        substeps = (self.spec.substeps or 0) * self.spec.num_envs * self._steps
        return {"substeps": substeps, "dispatches": self._steps}

    def start_children(self, count: int) -> None:
        """Start processes of its own, each in a session of its own, as careless workloads do."""
        for _ in range(count):
            idle = [sys.executable, "-c", "import time; time.sleep(3600)"]
            self._children.append(subprocess.Popen(idle, start_new_session=True))

    def close(self) -> None:
        """End the children."""
        self._faults.strike()
        for child in self._children:
            child.kill()
            child.wait()


class IdleWorkload:
    """Does nothing at all."""

    def __init__(self, spec: WorkloadSpec) -> None:
        """Remember the specification."""
        self.spec = spec

    def step(self, actions: Any) -> None:
        """Return at once."""


def import_framework(**options: Any) -> None:
    """Run the faults of the import stage, where a real adapter imports its framework."""
    FaultPlan.from_options(options).strike()


def build(
    num_envs: int,
    seed: int,
    context: BuildContext,
    *,
    step_ms: float = 1.0,
    row_us: float = 0.0,
    distribution: str = "constant",
    noise: float = 0.0,
    drift: float = 0.0,
    wait: str = "sleep",
    reset_rate: float = 0.0,
    autoreset: str = "same_step",
    substeps: int = 1,
    action_dim: int = 1,
    action_low: float = -1.0,
    action_high: float = 1.0,
    slower_by: float = 0.0,
    children: int = 0,
    fault: str = "none",
    fault_stage: str = "window",
    fault_worker: int = 0,
    fault_after: int = 0,
    fault_size: float = 0.0,
) -> SyntheticWorkload | IdleWorkload:
    """Build the synthetic workload.

    Args:
        num_envs: rows.
        seed: of the scatter and the resets.
        context: which worker this is.
        step_ms: mean duration of a vector step; 0 does nothing and tells nothing.
        row_us: what every row adds to it, shared evenly by the worker's threads.
        distribution: constant, normal, lognormal, heavy or bimodal.
        noise: relative scale of the scatter.
        drift: relative growth of the step time a step.
        wait: sleep or spin.
        reset_rate: share of the rows whose episode ends in a step.
        autoreset: same_step or next_step.
        substeps: told, not done.
        action_dim: length of an action.
        action_low: lower bound of the actions.
        action_high: upper bound of the actions.
        slower_by: worker k is slower by this share times k, which makes a straggler.
        children: idle processes to start.
        fault: none, raise, exit, exit_now, kill, abort, hang, hang_locked, nan, print, shrink_affinity, slow.
        fault_stage: import, build, first_step, warmup, window or close.
        fault_worker: worker that fails; -1 for every worker.
        fault_after: calls in that stage before it fails.
        fault_size: kB to print, or seconds to be slow.

    Raises:
        WorkloadError: an option has no such value.
    """
    _check_numbers(
        step_ms=step_ms,
        row_us=row_us,
        noise=noise,
        drift=drift,
        reset_rate=reset_rate,
        substeps=substeps,
        action_dim=action_dim,
        slower_by=slower_by,
        children=children,
    )
    faults = FaultPlan.from_options(
        {
            "fault": fault,
            "fault_stage": fault_stage,
            "fault_worker": fault_worker,
            "fault_after": fault_after,
            "fault_size": fault_size,
        },
        worker=context.worker,
    )
    faults.strike()
    spec = WorkloadSpec(
        num_envs,
        action=ArraySpec((action_dim,), "float32", action_low, action_high),
        observation={"obs": ArraySpec((OBSERVATION_COLUMNS,), "float64")},
        autoreset=_choice(Autoreset, "autoreset", autoreset),
        substeps=substeps,
        step_dt_s=0.02,
        threads=context.threads if row_us else 1,
    )
    scatter, waiting = _choice(Distribution, "distribution", distribution), _choice(Wait, "wait", wait)
    mean_s = step_ms / 1e3 + row_us / 1e6 * num_envs / context.threads
    if mean_s == 0 and faults.fault is Fault.NONE:
        return IdleWorkload(spec)
    draw = random.Random(seed)
    times = StepTime(mean_s * (1 + slower_by * context.worker), scatter, noise, drift, draw)
    workload = SyntheticWorkload(spec, times, waiting, reset_rate, draw, faults)
    workload.start_children(children)
    return workload


def _check_numbers(**values: float) -> None:
    for name, value in values.items():
        low, high = RANGES[name]
        if not isinstance(value, (int, float)) or not low <= value <= high:
            span = f"from {low} to {high}" if math.isfinite(high) else f"of at least {low}"
            raise WorkloadError(f"synthetic has no {name}={value!r}; it is a number {span}.")


def _choice(kind: Any, option: str, value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        offered = ", ".join(member.value for member in kind)
        raise WorkloadError(f"synthetic has no {option}={value!r}; it has: {offered}.") from None
