"""What makes a run's figures doubtful, each with what to do about it. Pure functions of what is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdyno.agent.measure.stationarity import trend
from envdyno.agent.placement.findings import FindingKind
from envdyno.agent.protocol import FromWorker
from envdyno.launch.run_outcome import RunOutcome
from envdyno.record.case import Mode
from envdyno.record.counted import counted
from envdyno.record.run_record import Throughput
from envdyno.record.status import Doubt, Warning_
from envdyno.record.worker import Totals, WorkerRecord

STEAL_LIMIT_CORES = 0.05
EDGE_LIMIT = 0.02
"""A step of every worker is more than this share of the window: the edges decide the last digits."""
STRAGGLER_LIMIT = 1.1
CONTROL_LIMIT_CORES = 0.01


def doubts(
    outcome: RunOutcome,
    totals: Totals | None,
    throughput: Throughput | None,
    workers: Sequence[WorkerRecord],
) -> Iterator[Warning_]:
    """Yield the warnings of a run, the gravest first."""
    if totals is not None:
        yield from _nonfinite(outcome, totals, workers)
        yield from _load(outcome)
        yield from _steadiness(outcome, workers)
    yield from _placement(outcome, workers)
    if totals is not None and throughput is not None:
        yield from _counting(outcome, totals, throughput)
    yield from _ends(outcome, workers)


def _nonfinite(outcome: RunOutcome, totals: Totals, workers: Sequence[WorkerRecord]) -> Iterator[Warning_]:
    seen = sum(worker.nonfinite_seen or 0 for worker in workers)
    rows = (totals.nonfinite_rows or 0) + seen
    steps = totals.nonfinite_rewards
    if rows or totals.nonfinite_rewards:
        yield Warning_(
            code=Doubt.NONFINITE,
            message=(
                f"{counted(rows, 'row')}, and the rewards of {counted(steps, 'vector step')}, were not "
                "finite."
            ),
            remedy="Find out why the simulation diverges."
            if outcome.request.allow_nonfinite
            else "Such a run is invalid: find out why the simulation diverges, or give --allow-nonfinite.",
        )


def _load(outcome: RunOutcome) -> Iterator[Warning_]:
    use = outcome.use
    if use is None:
        return
    limit = outcome.request.foreign_load_limit_cores
    if _is_disturbed(outcome):
        yield Warning_(
            code=Doubt.FOREIGN_LOAD,
            message=(
                f"Foreign load of {use.foreign_cores_chosen:.2f} cores on the chosen CPUs in the window "
                f"(limit {limit:g}): this figure is disturbed."
            ),
            remedy="Wait for a quiet machine, or use --wait-idle.",
        )
    if use.steal_s is not None and use.steal_s / use.elapsed_s > STEAL_LIMIT_CORES:
        yield Warning_(
            code=Doubt.STEAL,
            message=f"The hypervisor took {use.steal_s / use.elapsed_s:.2f} cores away during the window.",
            remedy="Compare only figures taken side by side, or measure on a machine of your own.",
        )
    if use.throttled_us:
        stopped_s = use.throttled_us / 1e6
        yield Warning_(
            code=Doubt.THROTTLED,
            message=(
                f"The CPU quota held this cgroup back for {stopped_s:.2f} s during the window, "
                "added up over its CPUs."
            ),
            remedy="Raise the quota, or use fewer CPUs than it grants (--cpus).",
        )
    if use.control_cpu_s / use.elapsed_s > CONTROL_LIMIT_CORES:
        yield Warning_(
            code=Doubt.CONTROL_LOAD,
            message=f"envdyno itself used {use.control_cpu_s / use.elapsed_s:.3f} cores during the window.",
            remedy="Use --quiet, or a longer window.",
        )


def _steadiness(outcome: RunOutcome, workers: Sequence[WorkerRecord]) -> Iterator[Warning_]:
    for worker in workers:
        warmup = worker.warmup
        if warmup is not None and warmup.steady is False:
            change = (warmup.relative_change or 0) * 100
            yield Warning_(
                code=Doubt.NOT_STEADY,
                message=(
                    f"Worker {worker.worker} was not steady after {warmup.steps} warm-up steps: "
                    f"the step time changed by {change:+.0f} % over the last round."
                ),
                remedy="Give a longer --warmup.",
            )
        found = trend(worker.series)
        if found is not None and not found.steady:
            yield Warning_(
                code=Doubt.TREND,
                message=(
                    f"The rate of worker {worker.worker} changed by {found.relative_change * 100:+.0f} % "
                    "over the window."
                ),
                remedy="Look for throttling, leaks or late compilation; give a longer --warmup.",
            )
        if worker.totals is not None and worker.raw_kept is not None:
            missing = worker.totals.vector_steps - worker.raw_kept
            if missing > 0 and outcome.request.mode is Mode.WINDOW:
                yield Warning_(
                    code=Doubt.RAW_THINNED,
                    message=(
                        f"The raw samples of worker {worker.worker} leave out its last "
                        f"{counted(missing, 'step')}."
                    ),
                )


def _placement(outcome: RunOutcome, workers: Sequence[WorkerRecord]) -> Iterator[Warning_]:
    for note in outcome.site.choice.notes:
        yield Warning_(code=Doubt.PLACEMENT_NOTE, message=note.message)
    for worker in workers:
        for message in outcome.message(worker.worker, FromWorker.CAPACITY).get("warnings", ()):
            yield Warning_(code=Doubt.MEMORY_SHORT, message=f"Worker {worker.worker}: {message}")
        yield from _binding(worker)
        for finding in (worker.audit_after or worker.audit_before or {}).get("findings", ()):
            # Threads that wait for a CPU which others use say nothing about the size of the pools.
            if finding["kind"] == FindingKind.OVERSUBSCRIBED.value and _is_disturbed(outcome):
                continue
            yield Warning_(code=Doubt.AUDIT, message=f"Worker {worker.worker}: {finding['message']}")


def _is_disturbed(outcome: RunOutcome) -> bool:
    use = outcome.use
    return use is not None and use.foreign_cores_chosen > outcome.request.foreign_load_limit_cores


def _binding(worker: WorkerRecord) -> Iterator[Warning_]:
    for part, name in (("cpu", "CPU"), ("memory", "memory")):
        fact = (worker.outcome or {}).get(part) or {}
        if fact.get("state") in (None, "applied", "off"):
            continue
        sentences = (f"Worker {worker.worker}: {name} binding {fact['state']}.", fact.get("message"))
        yield Warning_(
            code=Doubt.PLACEMENT,
            message=" ".join(sentence for sentence in sentences if sentence),
            remedy=fact.get("remedy") or "",
        )


def _counting(outcome: RunOutcome, totals: Totals, throughput: Throughput) -> Iterator[Warning_]:
    assumption = outcome.message(0, FromWorker.READY).get("counting_assumption")
    if assumption:
        yield Warning_(
            code=Doubt.COUNTING_ASSUMED,
            message=f"Counting rests on an assumption: {assumption}.",
            remedy="Let the workload tell spec.autoreset, or return a Tally from step().",
        )
    if throughput.edge_share is not None and throughput.edge_share > EDGE_LIMIT:
        yield Warning_(
            code=Doubt.FEW_STEPS,
            message=(
                f"Only {totals.vector_steps} vector steps were completed in the window: "
                f"the edges alone are good for ±{throughput.edge_share * 100:.1f} %."
            ),
            remedy="Give a longer --duration or a smaller --num-envs.",
        )
    if totals.episodes == 0 and outcome.request.mode is Mode.WINDOW:
        yield Warning_(
            code=Doubt.NO_RESETS,
            message="No episode ended in the window: this figure says nothing about resets.",
            remedy="Give a longer --duration, or actions that end episodes (--actions random).",
        )
    if throughput.straggler_index is not None and throughput.straggler_index > STRAGGLER_LIMIT:
        yield Warning_(
            code=Doubt.STRAGGLER,
            message=(
                f"The fastest worker stepped its environments {throughput.straggler_index:.2f} times "
                "as fast as the slowest."
            ),
            remedy="Look at each worker's CPU use, node and foreign load.",
        )


def _ends(outcome: RunOutcome, workers: Sequence[WorkerRecord]) -> Iterator[Warning_]:
    if outcome.left_processes and outcome.failure is None and outcome.interrupted_by is None:
        yield Warning_(
            code=Doubt.LEFT_PROCESSES,
            message=f"{outcome.left_processes} processes outlived the workload's close() and were ended.",
        )
    if outcome.failure is not None or outcome.interrupted_by is not None:
        return
    for worker in workers:
        if worker.exit_status not in (0, None):
            yield Warning_(
                code=Doubt.BAD_EXIT,
                message=f"Worker {worker.worker} ended with status {worker.exit_status} after it had closed.",
            )
