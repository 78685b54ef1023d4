"""One run: start the workers, lead them through the window, take the samples, end everything."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from datetime import datetime, timezone

from envdyno.agent.job import Job, Purpose
from envdyno.agent.placement.outcome import Outcome, State
from envdyno.agent.placement.pools import thread_variables
from envdyno.agent.protocol import FromWorker, ToWorker
from envdyno.agent.stages import Stage
from envdyno.host.hardware_counters import HardwareCounters
from envdyno.host.site import Site
from envdyno.launch.conductor import Conductor
from envdyno.launch.deadlines import Deadlines
from envdyno.launch.failure import Failure, FailureKind, Interrupted, RunFailed
from envdyno.launch.measured_span import measure_span
from envdyno.launch.own_cpus import kept_apart
from envdyno.launch.process import Launch, WorkerProcess
from envdyno.launch.reaping import end_processes
from envdyno.launch.run_outcome import RunOutcome
from envdyno.launch.session import Session
from envdyno.plan.run_request import RunRequest, split_batch
from envdyno.plan.usage_error import UsageError
from envdyno.record.hardware import HardwareCounting

SEED_STRIDE = 1_000_003
"""Worker k's environments are seeded with the seed plus k times this, so that no two workers share one."""


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
    cleanup = ExitStack()
    try:
        _start(outcome, session, processes)
        conductor = Conductor(
            processes,
            Deadlines(outcome.request.deadlines_s),
            session.interrupts,
            session.watcher,
        )
        outcome.states = conductor.states
        hardware = _count_from_here(outcome, purpose, cleanup)
        _send_jobs(outcome, purpose)
        conductor.await_all(FromWorker.PLACED)
        if outcome.request.strict_placement:
            _check_placed(outcome)
        conductor.await_all(FromWorker.READY)
        if purpose is Purpose.MEASURE:
            with kept_apart(outcome.site.chosen_cpus, outcome.site.topology.siblings) as outcome.control_cpus:
                measure_span(outcome, conductor, hardware)
        conductor.await_all(FromWorker.CLOSED)
        conductor.await_exits()
    finally:
        cleanup.close()
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


def _count_from_here(outcome: RunOutcome, purpose: Purpose, cleanup: ExitStack) -> HardwareCounters | None:
    """Open the hardware counters, where they are wanted: before a worker has its job, and so its threads."""
    if purpose is not Purpose.MEASURE or outcome.request.hardware_counters is HardwareCounting.OFF:
        return None
    counters = HardwareCounters([state.process.pid for state in outcome.states])
    cleanup.callback(counters.close)
    return counters


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
