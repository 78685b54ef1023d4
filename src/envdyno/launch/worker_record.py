"""From what one worker told to its part of the record."""

from __future__ import annotations

from typing import Any

from envdyno.agent.measure.stationarity import trend
from envdyno.agent.protocol import FromWorker
from envdyno.launch.aggregate import WorkerWindow
from envdyno.launch.contact_record import contact_samples
from envdyno.launch.hardware_record import hardware_counts
from envdyno.launch.run import worker_seed
from envdyno.launch.run_outcome import RunOutcome
from envdyno.record.worker import StepTime, Totals, Warmup, WorkerRecord, WorkerUse, WorkSpan


def totals_of(told: dict[str, Any]) -> Totals:
    """Return the sums that a worker told."""
    return Totals(
        vector_steps=told["steps"],
        transitions=told["transitions"],
        reset_rows=told["reset_rows"],
        episodes=told["episodes"],
        nonfinite_rows=told["nonfinite_rows"],
        reward_sum=told["reward_sum"],
        nonfinite_rewards=told["nonfinite_rewards"],
    )


def worker_window(outcome: RunOutcome, worker: int) -> WorkerWindow | None:
    """Return what a worker completed inside the window; ``None`` where it did not come so far."""
    measured = outcome.message(worker, FromWorker.MEASURED)
    if not measured:
        return None
    edges = measured["edges"]
    return WorkerWindow(
        num_envs=outcome.shares[worker],
        start_ns=edges["start_ns"],
        end_ns=edges["end_ns"],
        totals=totals_of(measured["totals"]),
        first_ns=measured.get("first_ns"),
    )


def worker_record(
    outcome: RunOutcome, worker: int, elapsed_s: float | None, transitions: int
) -> WorkerRecord:
    """Return the record of one worker.

    Args:
        outcome: the run.
        worker: which worker.
        elapsed_s: the run's common window, ``None`` where nothing was measured.
        transitions: of all workers, for the share.
    """
    placed = outcome.message(worker, FromWorker.PLACED)
    ready = outcome.message(worker, FromWorker.READY)
    measured = outcome.message(worker, FromWorker.MEASURED)
    closed = outcome.message(worker, FromWorker.CLOSED)
    state = outcome.states[worker] if worker < len(outcome.states) else None
    placement = outcome.site.choice.placements[worker]
    variables = outcome.variables[worker]
    window = worker_window(outcome, worker)
    series = tuple(measured.get("series", ()))
    found = trend(series)
    hashed = ready.get("observation_hash") or {}
    rate = window.totals.transitions / elapsed_s if window and elapsed_s else None
    return WorkerRecord(
        worker=worker,
        pid=state.process.pid if state else 0,
        num_envs=outcome.shares[worker],
        seed=worker_seed(outcome.request.seed, worker),
        placement=placement.to_json(),
        outcome=placed.get("outcome"),
        modules_before_placement=tuple(placed.get("modules", ())),
        thread_variables={"set": dict(variables.set), "kept": dict(variables.kept)},
        stages_s=_stages(placed, closed or ready),
        warmup=Warmup(**ready["warmup"]) if ready.get("warmup") else None,
        audit_before=ready.get("audit"),
        audit_after=measured.get("audit"),
        totals=window.totals if window else None,
        share=window.totals.transitions / transitions if window and transitions else None,
        transitions_per_s=rate,
        step_time=_step_time(measured),
        series=series,
        trend=found.relative_change if found else None,
        entered_s=_entered_s(window),
        work=_work(measured.get("work")),
        contacts=contact_samples(outcome, worker),
        use=_use(outcome, worker, rate),
        observation_hash=hashed.get("value"),
        observation_hash_steps=hashed.get("after_steps"),
        nonfinite_seen=_seen(ready.get("nonfinite_rows"), measured.get("nonfinite_at_end")),
        raw_samples=_raw_samples(outcome, worker, measured),
        raw_kept=measured.get("raw_kept"),
        exit_status=state.exit_status if state else None,
    )


def without_rates(worker: WorkerRecord) -> WorkerRecord:
    """Return a worker's record without the figures that only a run with a headline has."""
    use = worker.use
    if use is not None and use.hardware is not None:
        counts = use.hardware.model_copy(update={"instructions_per_transition": None})
        use = use.model_copy(update={"hardware": counts})
    return worker.model_copy(update={"transitions_per_s": None, "use": use})


def _stages(placed: dict[str, Any], told: dict[str, Any]) -> dict[str, float]:
    bind = {"bind": placed["seconds"]} if "seconds" in placed else {}
    return bind | dict(told.get("ledger", {}))


def _step_time(measured: dict[str, Any]) -> StepTime | None:
    found = measured.get("latency") or measured.get("step_time")
    return StepTime(**found) if found else None


def _entered_s(window: WorkerWindow | None) -> float | None:
    if window is None or window.first_ns is None:
        return None
    return (window.first_ns - window.start_ns) / 1e9


def _work(span: dict[str, Any] | None) -> WorkSpan | None:
    return WorkSpan(**span) if span else None


def _use(outcome: RunOutcome, worker: int, transitions_per_s: float | None) -> WorkerUse | None:
    if outcome.use is None:
        return None
    use = outcome.use.workers[worker]
    cpus = len(outcome.site.choice.placements[worker].cpus or outcome.site.chosen_cpus)
    return WorkerUse(
        cpu_s=use.cpu_s,
        cpu_percent=100 * use.cpu_s / outcome.use.elapsed_s / cpus,
        rss_bytes=use.rss_bytes,
        minor_faults=use.minor_faults,
        major_faults=use.major_faults,
        voluntary_switches=use.voluntary_switches,
        involuntary_switches=use.involuntary_switches,
        processes=use.processes,
        hardware=hardware_counts(outcome.hardware, (worker,), transitions_per_s),
    )


def _seen(*looks: int | None) -> int | None:
    known = [look for look in looks if look is not None]
    return max(known) if known else None


def _raw_samples(outcome: RunOutcome, worker: int, measured: dict[str, Any]) -> str | None:
    """Return the samples' path inside the bundle; ``None`` where they go with the scratch folder."""
    if not measured or outcome.folder.parent.name != "runs":
        return None
    return f"runs/{outcome.folder.name}/worker-{worker}.npy"
