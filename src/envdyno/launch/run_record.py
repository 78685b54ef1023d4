"""From what came of a run to its record."""

from __future__ import annotations

import signal
import uuid
from collections.abc import Sequence
from typing import Any

from envdyno._version import __version__
from envdyno.agent.job import Timing
from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.measure.phase_window import PhaseReading, tree_of
from envdyno.agent.protocol import VERSION, FromWorker
from envdyno.host.site import Site, placement_in_words
from envdyno.launch import aggregate
from envdyno.launch.absent import absent_facts, absent_figures
from envdyno.launch.doubts import doubts
from envdyno.launch.failure import Failure, FailureKind
from envdyno.launch.fingerprinting import fingerprint
from envdyno.launch.hardware_record import absent_counts, hardware_counts
from envdyno.launch.run_outcome import RunOutcome
from envdyno.launch.worker_record import without_rates, worker_record, worker_window
from envdyno.plan.run_request import RunRequest
from envdyno.record.case import CaseRecord, Mode
from envdyno.record.run_record import MachineUse, RunRecord, SoftwareRecord, Throughput
from envdyno.record.status import FailureRecord, Status
from envdyno.record.worker import Totals, WorkerRecord

STATUS_OF = {FailureKind.DEADLINE: Status.TIMEOUT, FailureKind.SIGNAL: Status.KILLED}


def make_record(outcome: RunOutcome, command: Sequence[str]) -> RunRecord:
    """Return the record of a run, whatever came of it.

    Args:
        outcome: the run.
        command: arguments that repeat it.
    """
    windows = [worker_window(outcome, index) for index in range(len(outcome.shares))]
    complete = [window for window in windows if window is not None]
    measured = outcome.failure is None and outcome.interrupted_by is None and len(complete) == len(windows)
    totals = aggregate.add_totals([window.totals for window in complete]) if measured else None
    elapsed_s = aggregate.elapsed_s(complete) if measured else None
    workers = tuple(
        worker_record(outcome, index, elapsed_s, totals.transitions if totals else 0)
        for index in range(len(outcome.variables))
    )
    spec = outcome.message(0, FromWorker.READY).get("spec")
    case = case_record(outcome)
    status = _status(outcome, totals, workers)
    throughput = None
    if totals is not None and elapsed_s is not None and status is not Status.INVALID:
        throughput = _throughput(outcome, complete, totals, elapsed_s, spec or {})
    if throughput is None:
        workers = tuple(map(without_rates, workers))
    machine, software = _machine_use(outcome), _software(outcome)
    rate = None if throughput is None else throughput.transitions_per_s
    hardware = hardware_counts(outcome.hardware, range(len(workers)), rate)
    found, absent = fingerprint(outcome, case)
    return RunRecord(
        run_id=uuid.uuid4().hex,
        status=status,
        started_at=outcome.started_at.isoformat(timespec="milliseconds"),
        command=tuple(command),
        envdyno_version=__version__,
        protocol_version=VERSION,
        case=case,
        config_hash=case.config_hash(),
        failure=_failure(outcome),
        spec=spec,
        throughput=throughput,
        totals=totals,
        reward_mean=_reward_mean(totals),
        workers=workers,
        skipped_nodes={str(skip.node): skip.reason for skip in outcome.site.choice.skipped},
        machine=machine,
        hardware=hardware,
        software=software,
        fingerprint=found,
        warnings=tuple(doubts(outcome, totals, throughput, workers)),
        absent=absent
        | absent_figures(outcome, status, throughput, totals)
        | absent_facts(machine, software)
        | absent_counts(outcome.hardware, hardware, outcome.request.hardware_counters),
        overhead_s=_overhead_s(outcome, workers) if measured else None,
        phases=phases_of(outcome),
    )


def case_record(outcome: RunOutcome) -> CaseRecord:
    """Return what was asked for."""
    case = case_record_of(outcome.request, outcome.site, outcome.shares)
    used = outcome.message(0, FromWorker.READY).get("actions")
    return case if used is None else case.model_copy(update={"actions": used})


def case_record_of(request: RunRequest, site: Site, shares: tuple[int, ...]) -> CaseRecord:
    """Return what a request asks for on a site.

    Probes and the clock of phases do nothing in a throughput run: they are no part of its case.
    """
    window = request.mode is Mode.WINDOW
    timed = request.timing is Timing.ATTRIBUTION
    return CaseRecord(
        workload=request.workload,
        options=request.options,
        num_envs=request.num_envs,
        shares=shares,
        seed=request.seed,
        actions=ActionSource(request.actions).value,
        warmup_steps=request.warmup_steps,
        mode=request.mode,
        window_s=request.window_s if window else None,
        steps=None if window else request.steps,
        timing=request.timing.value,
        probes=request.probes if timed else (),
        phase_cpu=request.phase_cpu and timed,
        hardware_counters=request.hardware_counters,
        numa=request.placement.numa,
        placements=tuple(placement_in_words(placement) for placement in site.choice.placements),
        threads=request.placement.threads,
    )


def _status(outcome: RunOutcome, totals: Totals | None, workers: Sequence[WorkerRecord]) -> Status:
    if outcome.interrupted_by is not None:
        return Status.INTERRUPTED
    if outcome.failure is not None:
        return STATUS_OF.get(outcome.failure.kind, Status.FAILED)
    if totals is not None and not outcome.request.allow_nonfinite:
        seen = sum(worker.nonfinite_seen or 0 for worker in workers)
        if totals.nonfinite_rows or totals.nonfinite_rewards or seen:
            return Status.INVALID
    return Status.OK


def _failure(outcome: RunOutcome) -> FailureRecord | None:
    if outcome.interrupted_by is not None:
        name = signal.Signals(outcome.interrupted_by).name
        return FailureRecord(kind="interrupt", worker=None, stage=None, message=f"Interrupted by {name}.")
    failure: Failure | None = outcome.failure
    if failure is None:
        return None
    return FailureRecord(
        kind=failure.kind.value,
        worker=failure.worker,
        stage=failure.stage,
        message=failure.message,
        exception=failure.exception,
        traceback=failure.traceback,
        signal=failure.signal,
        exit_code=failure.exit_code,
        log_tail=failure.log_tail,
    )


def _throughput(
    outcome: RunOutcome,
    windows: Sequence[aggregate.WorkerWindow],
    totals: Totals,
    elapsed_s: float,
    spec: dict[str, Any],
) -> Throughput:
    rate = totals.transitions / elapsed_s
    use = outcome.use
    substeps, step_dt_s = spec.get("substeps"), spec.get("step_dt_s")
    synchronized = any(
        outcome.message(index, FromWorker.READY).get("synchronized") for index in range(len(windows))
    )
    latency = outcome.request.mode is Mode.LATENCY
    per_cpu = rate * use.elapsed_s / use.cpu_s if use is not None and use.cpu_s > 0 else None
    episodes = totals.episodes
    return Throughput(
        transitions_per_s=rate,
        elapsed_s=elapsed_s,
        vector_steps_per_s=totals.vector_steps / elapsed_s,
        substeps_per_s=rate * substeps if substeps else None,
        real_time_factor=rate * step_dt_s if step_dt_s else None,
        transitions_per_cpu_s=per_cpu,
        episodes_per_s=None if episodes is None else episodes / elapsed_s,
        resets_per_step=None
        if episodes is None or not totals.vector_steps
        else episodes / totals.vector_steps,
        formula=aggregate.FORMULA_OWN_SPANS if latency or synchronized else aggregate.FORMULA,
        edge_mode="synchronized" if synchronized else "host_return",
        edge_share=None if latency else aggregate.edge_share(windows),
        start_skew_s=None if latency else aggregate.start_skew_s(windows),
        straggler_index=aggregate.straggler_index(windows),
    )


def _reward_mean(totals: Totals | None) -> float | None:
    if totals is None or totals.reward_sum is None or not totals.transitions or totals.nonfinite_rewards:
        return None
    return totals.reward_sum / totals.transitions


def _machine_use(outcome: RunOutcome) -> MachineUse | None:
    use = outcome.use
    if use is None:
        return None
    return MachineUse(
        elapsed_s=use.elapsed_s,
        cpu_s=use.cpu_s,
        cpu_cores=use.cpu_s / use.elapsed_s,
        control_cpu_s=use.control_cpu_s,
        control_cores=use.control_cpu_s / use.elapsed_s,
        control_cpus=outcome.control_cpus,
        foreign_cores_chosen=use.foreign_cores_chosen,
        foreign_cores_machine=use.foreign_cores_machine,
        steal_s=use.steal_s,
        throttled_s=None if use.throttled_us is None else use.throttled_us / 1e6,
        pressure_s={name: None if value is None else value / 1e6 for name, value in use.pressure_us.items()},
    )


def _software(outcome: RunOutcome) -> SoftwareRecord | None:
    loaded = outcome.message(0, FromWorker.MEASURED).get("loaded")
    return SoftwareRecord(**loaded) if loaded else None


def phases_of(outcome: RunOutcome) -> dict[str, Any] | None:
    """Return the tree of phases over all workers of an attribution run, and what overlapped their steps."""
    told = [outcome.message(index, FromWorker.MEASURED).get("phases") for index in range(len(outcome.shares))]
    readings = [PhaseReading.from_json(body) for body in told if body]
    if len(readings) != len(told) or not all(reading.vector_steps for reading in readings):
        return None
    threads = {
        f"worker {index}, {name}": [list(total) for total in totals]
        for index, reading in enumerate(readings)
        for name, totals in reading.other_threads.items()
        if totals
    }
    misnested = sum(reading.misnested for reading in readings)
    return tree_of(readings).to_json() | {"other_threads": threads, "misnested": misnested}


def _overhead_s(outcome: RunOutcome, workers: Sequence[WorkerRecord]) -> float:
    """Return the run's time less the stages of its slowest worker, the window's own part included there."""
    longest = max(sum(worker.stages_s.values()) for worker in workers)
    return max(0.0, outcome.elapsed_s - longest)
