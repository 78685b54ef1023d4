"""One run: start the workers, lead them through the window, take the samples, end everything."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from envdyno.agent.job import Job, Purpose
from envdyno.agent.placement.outcome import Outcome, State
from envdyno.agent.placement.pools import ThreadVariables, thread_variables
from envdyno.agent.protocol import FromWorker, ToWorker
from envdyno.agent.stages import Stage
from envdyno.host.counters import Edge, Sample, Use, sample, use_between
from envdyno.host.site import Site
from envdyno.launch.conductor import Conductor, WorkerState
from envdyno.launch.deadlines import Deadlines
from envdyno.launch.failure import Failure, FailureKind, Interrupted, RunFailed
from envdyno.launch.process import Launch, WorkerProcess
from envdyno.launch.reaping import end_processes
from envdyno.launch.session import Session
from envdyno.plan.run_request import RunRequest, split_batch
from envdyno.plan.usage_error import UsageError
from envdyno.record.case import Mode

SEED_STRIDE = 1_000_003
"""Worker k's environments are seeded with the seed plus k times this, so that no two workers share one."""
LEAD_S = 0.1
"""Least time between naming the window and its start."""
LEAD_STEPS = 4
"""The window is named this many of the slowest warm-up steps before it starts."""
ATTEMPTS = 3
"""A worker that hears of the window only after its start makes the run name another one."""
LEAD_GROWTH = 4
LATENCY_ROOM = 5
"""Latency runs may take this many times what the warm-up promised before they count as hung."""


@dataclass
class RunOutcome:
    """Everything that is known when a run has ended, well or not."""

    request: RunRequest
    site: Site
    shares: tuple[int, ...]
    started_at: datetime
    folder: Path
    variables: tuple[ThreadVariables, ...] = ()
    states: list[WorkerState] = field(default_factory=list)
    window_ns: tuple[int, int] | None = None
    use: Use | None = None
    failure: Failure | None = None
    interrupted_by: int | None = None
    left_processes: int = 0
    elapsed_s: float = 0.0

    def message(self, worker: int, kind: FromWorker) -> dict[str, Any]:
        """Return what a worker told, or an empty message where it told nothing."""
        if worker >= len(self.states):
            return {}
        return self.states[worker].messages.get(kind, {})


def execute(
    request: RunRequest,
    site: Site,
    session: Session,
    purpose: Purpose = Purpose.MEASURE,
    name: str | None = None,
) -> RunOutcome:
    """Run one case in fresh processes and return what came of it.

    A failure is an outcome, not an exception; so is an interruption. ``name`` is that of the folder for logs
    and samples, where it is not to be a number.

    Raises:
        UsageError: what was asked for cannot be had. Found before, or while, the workload is built.
    """
    shares = split_batch(request.num_envs, len(site.choice.placements))
    session.runs += 1
    folder = session.run_folder(name or f"run-{session.runs:04d}")
    outcome = RunOutcome(request, site, shares, datetime.now(timezone.utc), folder)
    began = time.monotonic()
    try:
        _lead(outcome, session, purpose)
    except RunFailed as failed:
        outcome.failure = failed.failure
    except Interrupted as interrupted:
        outcome.interrupted_by = interrupted.number
    outcome.elapsed_s = time.monotonic() - began
    if outcome.failure is not None and outcome.failure.kind is FailureKind.USAGE:
        raise UsageError(outcome.failure.message)
    return outcome


def _lead(outcome: RunOutcome, session: Session, purpose: Purpose) -> None:
    """Start the workers and lead them to the end; whatever happens, none is left."""
    processes: list[WorkerProcess] = []
    conductor: Conductor | None = None
    try:
        _start(outcome, session, processes)
        conductor = Conductor(
            processes,
            Deadlines(outcome.request.deadlines_s),
            session.interrupts,
            session.watcher,
        )
        outcome.states = conductor.states
        _send_jobs(outcome, purpose)
        conductor.await_all(FromWorker.PLACED)
        if outcome.request.strict_placement:
            _check_placed(outcome)
        conductor.await_all(FromWorker.READY)
        if purpose is Purpose.MEASURE:
            _measure(outcome, conductor)
        conductor.await_all(FromWorker.CLOSED)
        conductor.await_exits()
    finally:
        if conductor is not None:
            conductor.end_all()
            conductor.close()
        else:
            for process in processes:
                process.kill()
        for process in processes:
            process.close_pipes()
        groups = [process.pid for process in processes]
        outcome.left_processes = len(end_processes(session.scratch.token, groups))


def _check_placed(outcome: RunOutcome) -> None:
    """Stop where a binding was not applied as asked."""
    for state in outcome.states:
        placed = Outcome.from_json(state.messages[FromWorker.PLACED]["outcome"])
        if placed.complete:
            continue
        worker = state.process.worker
        facts = " ".join(
            " ".join(
                part for part in (f"{name} binding {fact.state.value}.", fact.message, fact.remedy) if part
            )
            for name, fact in (("CPU", placed.cpu), ("Memory", placed.memory))
            if fact.state not in (State.APPLIED, State.OFF)
        )
        text = f"Worker {worker} was not placed as asked, and --strict-placement stops there. {facts}"
        raise RunFailed(Failure(FailureKind.PLACEMENT, worker, Stage.BIND.value, text))


def _start(outcome: RunOutcome, session: Session, processes: list[WorkerProcess]) -> None:
    request = outcome.request
    whole = request.whole_environ
    environ = {**os.environ, **request.environ} if whole is None else dict(whole)
    placements = outcome.site.choice.placements
    outcome.variables = tuple(thread_variables(placement.threads, environ) for placement in placements)
    for placement, variables in zip(placements, outcome.variables, strict=True):
        launch = Launch(
            worker=placement.worker,
            python=request.python,
            agent_path=session.scratch.agent_path,
            placement=placement,
            environ={**environ, **variables.set},
            cwd=request.cwd,
            log=outcome.folder / f"worker-{placement.worker}.log",
            token=session.scratch.token,
        )
        processes.append(WorkerProcess(launch))


def _send_jobs(outcome: RunOutcome, purpose: Purpose) -> None:
    request = outcome.request
    for index, state in enumerate(outcome.states):
        placement = outcome.site.choice.placements[index]
        job = Job(
            worker=index,
            workers=len(outcome.states),
            workload=request.workload,
            num_envs=outcome.shares[index],
            seed=worker_seed(request.seed, index),
            cpus=placement.cpus or outcome.site.chosen_cpus,
            threads=placement.threads,
            options=request.options,
            actions=request.actions,
            actions_seed=worker_seed(request.seed, index),
            warmup_steps=request.warmup_steps,
            sys_path=tuple(map(str, request.sys_path or (request.cwd,))),
            raw_path=str(outcome.folder / f"worker-{index}.npy"),
            timing=request.timing,
            phase_cpu=request.phase_cpu,
            probes=request.probes,
            purpose=purpose,
            modules=request.modules,
        )
        state.process.send(ToWorker.RUN, **job.to_json())


def worker_seed(seed: int, worker: int) -> int:
    """Return the seed of one worker's environments and actions."""
    return seed + worker * SEED_STRIDE


def _measure(outcome: RunOutcome, conductor: Conductor) -> None:
    """Name the span to measure, sample the counters at its edges, and stop the workers after it."""
    _check_window(outcome)
    lead_s = max(LEAD_S, LEAD_STEPS * _slowest_step_s(outcome))
    for _attempt in range(ATTEMPTS):
        _measure_span(outcome, conductor, lead_s)
        late = [state for state in outcome.states if state.messages[FromWorker.PASSED]["late"]]
        if not late:
            break
        lead_s *= LEAD_GROWTH
    else:
        raise RunFailed(_too_late(late[0]))
    conductor.send_all(ToWorker.STOP)
    conductor.await_all(FromWorker.MEASURED)


def _measure_span(outcome: RunOutcome, conductor: Conductor, lead_s: float) -> None:
    """Have every worker measure the same span, and wait until all have passed it."""
    request = outcome.request
    for state in outcome.states:
        state.messages.pop(FromWorker.PASSED, None)
    start_ns = time.monotonic_ns() + int(lead_s * 1e9)
    conductor.begin_window(lead_s + _expected_s(outcome))
    if request.mode is Mode.LATENCY:
        conductor.send_all(ToWorker.LATENCY, start_ns=start_ns, steps=request.steps)
        conductor.sleep_until(start_ns / 1e9)
        before = _sample(outcome, Edge.START)
        conductor.await_all(FromWorker.PASSED)
    else:
        end_ns = start_ns + int(request.window_s * 1e9)
        outcome.window_ns = (start_ns, end_ns)
        conductor.send_all(ToWorker.WINDOW, start_ns=start_ns, end_ns=end_ns)
        conductor.sleep_until(start_ns / 1e9)
        before = _sample(outcome, Edge.START)
        conductor.sleep_until(end_ns / 1e9)
    outcome.use = use_between(before, _sample(outcome, Edge.END), outcome.site.chosen_cpus)
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
