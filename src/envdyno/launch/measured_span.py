"""The span that is measured: named to every worker, sampled at its edges, named again where one was late."""

from __future__ import annotations

import time

from envdyno.agent.protocol import FromWorker, ToWorker
from envdyno.host.counters import Edge, Sample, sample, use_between
from envdyno.host.hardware_counters import HardwareCounters
from envdyno.launch.conductor import Conductor, WorkerState
from envdyno.launch.failure import Failure, FailureKind, RunFailed
from envdyno.launch.run_outcome import RunOutcome
from envdyno.plan.usage_error import UsageError
from envdyno.record.case import Mode

LEAD_S = 0.1
"""Least time between naming the window and its start."""
LEAD_STEPS = 4
"""The window is named this many of the slowest warm-up steps before it starts."""
ATTEMPTS = 3
"""A worker that hears of the window only after its start makes the run name another one."""
LEAD_GROWTH = 4
LATENCY_ROOM = 5
"""Latency runs may take this many times what the warm-up promised before they count as hung."""
READ_LEAD_S = 0.005
"""Hardware counters are read this long before the start: reading interrupts the CPUs that workers run on."""


def measure_span(outcome: RunOutcome, conductor: Conductor, hardware: HardwareCounters | None) -> None:
    """Name the span to measure, sample the counters at its edges, and stop the workers after it.

    Args:
        outcome: of the run; its window, what was used in it and what was counted are set.
        conductor: leads the workers, all of which are ready.
        hardware: counters open on the workers, where they were asked for.

    Raises:
        RunFailed: a worker failed, or could not be told of the span in time.
        Interrupted: the user asked to end.
        UsageError: the span is shorter than a vector step.
    """
    _check_window(outcome)
    lead_s = max(LEAD_S, LEAD_STEPS * _slowest_step_s(outcome))
    for _attempt in range(ATTEMPTS):
        _measure_once(outcome, conductor, hardware, lead_s)
        late = [state for state in outcome.states if state.messages[FromWorker.PASSED]["late"]]
        if not late:
            break
        lead_s *= LEAD_GROWTH
    else:
        raise RunFailed(_too_late(late[0]))
    conductor.send_all(ToWorker.STOP)
    conductor.await_all(FromWorker.MEASURED)


def _measure_once(
    outcome: RunOutcome, conductor: Conductor, hardware: HardwareCounters | None, lead_s: float
) -> None:
    """Have every worker measure the same span, and wait until all have passed it."""
    request = outcome.request
    for state in outcome.states:
        state.messages.pop(FromWorker.PASSED, None)
    start_ns = time.monotonic_ns() + int(lead_s * 1e9)
    end_ns = start_ns + int(request.window_s * 1e9)
    conductor.begin_window(lead_s + _expected_s(outcome))
    if request.mode is Mode.LATENCY:
        conductor.send_all(ToWorker.LATENCY, start_ns=start_ns, steps=request.steps)
    else:
        outcome.window_ns = (start_ns, end_ns)
        span = {"start_ns": start_ns, "end_ns": end_ns}
        conductor.send_all(ToWorker.WINDOW, **span, pulse=conductor.follows_rate)
    conductor.sleep_until(start_ns / 1e9 - READ_LEAD_S)
    counted = None if hardware is None else hardware.read()
    conductor.sleep_until(start_ns / 1e9)
    before = _sample(outcome, Edge.START)
    if request.mode is Mode.LATENCY:
        conductor.await_all(FromWorker.PASSED)
    else:
        conductor.sleep_until(end_ns / 1e9)
    outcome.use = use_between(
        before,
        _sample(outcome, Edge.END),
        outcome.site.chosen_cpus,
        control_apart=outcome.control_cpus is not None,
    )
    if hardware is not None and counted is not None:
        outcome.hardware = hardware.between(counted, hardware.read())
    conductor.await_all(FromWorker.PASSED)


def _expected_s(outcome: RunOutcome) -> float:
    """Return how long the measured span takes; in latency mode an estimate with room to spare."""
    request = outcome.request
    if request.mode is Mode.WINDOW:
        return request.window_s
    return LATENCY_ROOM * request.steps * _slowest_step_s(outcome)


def _too_late(state: WorkerState) -> Failure:
    worker = state.process.worker
    return Failure(
        FailureKind.LATE,
        worker,
        state.stage.value,
        f"Worker {worker} was in a vector step of unusual length every time the window was to begin "
        f"({ATTEMPTS} attempts). Give a longer --warmup, or wait for a quieter machine.",
    )


def _sample(outcome: RunOutcome, edge: Edge) -> Sample:
    return sample([state.process.pid for state in outcome.states], edge)


def _slowest_step_s(outcome: RunOutcome) -> float:
    """Return the mean warm-up step of the slowest worker, or the first step where there was no warm-up."""
    slowest = 0.0
    for state in outcome.states:
        ready = state.messages[FromWorker.READY]
        warmup = ready["warmup"]
        mean = warmup["seconds"] / warmup["steps"] if warmup["steps"] else ready["ledger"]["first_step"]
        slowest = max(slowest, mean)
    return slowest


def _check_window(outcome: RunOutcome) -> None:
    step_s = _slowest_step_s(outcome)
    request = outcome.request
    if request.mode is Mode.WINDOW and request.warmup_steps and request.window_s < step_s:
        raise UsageError(
            f"--duration {request.window_s:g}s was asked for, and one vector step of {request.workload} with "
            f"{request.num_envs} environments takes about {step_s:.3g} s. Give a window of many steps: "
            f"--duration {max(1, round(step_s * 30))}s or longer, or a smaller --num-envs."
        )
