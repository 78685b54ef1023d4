"""The result of a run as text: what was measured, the headline, each worker, and what makes it doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.record.case import Mode
from envdyno.record.counted import counted
from envdyno.record.hardware import HardwareCounts
from envdyno.record.run_record import RunRecord, Throughput
from envdyno.record.status import Status
from envdyno.record.worker import Totals, WorkerRecord
from envdyno.report.columns import aligned
from envdyno.report.sentences import wrapped

HEADLINE_WIDTH = 32
UNKNOWN = "-"


def report_lines(record: RunRecord, width: int | None = None) -> list[str]:
    """Return the report of one run, line by line, without colour.

    Args:
        record: of the run.
        width: of the screen; sentences are folded to fit. ``None`` folds nothing.
    """

    def fit(line: str) -> list[str]:
        return [line] if width is None or len(line) <= width else wrapped(line, width)

    lines = [*fit(heading(record)), ""]
    if record.throughput is not None and record.totals is not None:
        for line in headline_lines(record, record.throughput, record.totals):
            lines += fit(f"  {line}")
        lines.append("")
        lines += [f"  {line}" for line in _workers(record)]
    else:
        lines += [f"  {line}" for line in failure_lines(record)]
    warnings = [part for line in warning_lines(record) for part in fit(line)]
    return [*lines, "", *warnings] if warnings else lines


def heading(record: RunRecord) -> str:
    """Return one line: case, batch, workers, machine."""
    case = record.case
    count = len(case.shares)
    nodes = {worker.placement["node"] for worker in record.workers if worker.placement["node"] is not None}
    where = f" on node{'s' * (len(nodes) != 1)} {format_cpulist(nodes)}" if nodes else ""
    where = where or ", unbound" * bool(record.workers)
    identity = record.fingerprint.identity if record.fingerprint else {}
    machine = identity.get("cpu_model") or "unknown CPU"
    options = "".join(f" {key}={value}" for key, value in sorted(case.options.items()))
    return (
        f"{case.workload}{options}   {case.num_envs:,} envs   "
        f"{counted(count, 'worker')}{where}   {machine}, CPUs {identity.get('online_cpus', UNKNOWN)}"
    )


def headline_lines(record: RunRecord, found: Throughput, totals: Totals) -> Iterator[str]:
    """Yield what a run measured: its rate, what that was made of, and what stands beside it."""
    episodes = "episodes not told" if totals.episodes is None else f"{totals.episodes:,} episodes ended"
    if record.case.mode is Mode.WINDOW:
        span = f"{found.elapsed_s:.1f} s window"
    else:
        span = f"{counted(record.case.steps or 0, 'vector step')} in {found.elapsed_s:.2f} s"
    rows = totals.transitions + totals.reset_rows
    reset_share = f" ({100 * totals.reset_rows / rows:.1f} %)" if totals.reset_rows else ""
    yield _pair(
        f"{_rate(found.transitions_per_s)} transitions/s",
        f"{span}, {totals.transitions:,} transitions, "
        f"{totals.reset_rows:,} reset rows{reset_share}, {episodes}",
    )
    cpu = found.transitions_per_cpu_s
    left = "transitions/CPU-s not known" if cpu is None else f"{_rate(cpu)} transitions/CPU-s"
    yield _pair(left, _substeps(record, found))
    resets = found.resets_per_step
    yield _pair(
        f"{_rate(found.vector_steps_per_s)} vector steps/s",
        "" if resets is None else f"{resets:,.2f} resets a vector step",
    )
    if (hardware := record.hardware) is not None and hardware.instructions_per_transition is not None:
        yield _pair(
            f"{_scaled(hardware.instructions_per_transition)} instructions/transition", _counted(hardware)
        )
    if record.case.mode is Mode.LATENCY:
        yield from _latency(record.workers)


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"


def _scaled(value: float) -> str:
    """Return a number with three digits and a unit prefix."""
    for factor, prefix in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= 0.9995 * factor:  # 999.6 k would be written 1e+03 k
            return f"{value / factor:.3g}{prefix}"
    return f"{value:.3g}"


def _milliseconds(value: float) -> str:
    return f"{value:.2f} ms" if value >= 0.1 or not value else f"{value:.2g} ms"


def _pair(left: str, right: str) -> str:
    return f"{left.ljust(HEADLINE_WIDTH)}{right}".rstrip()


def _substeps(record: RunRecord, found: Throughput) -> str:
    parts = []
    substeps = (record.spec or {}).get("substeps")
    if substeps and found.substeps_per_s is not None:
        parts.append(f"{counted(substeps, 'substep')} each: {_rate(found.substeps_per_s)} substeps/s")
    if found.real_time_factor is not None:
        parts.append(f"{_rate(found.real_time_factor)} × real time")
    return ", ".join(parts)


def _counted(found: HardwareCounts) -> str:
    """Return what else the processor counted, and how well."""
    parts = []
    if found.instructions_per_cycle is not None:
        parts.append(f"{found.instructions_per_cycle:.2f} a cycle")
    misses, references = found.cache_misses, found.cache_references
    if misses is not None and references is not None and references.count:
        parts.append(f"{100 * misses.count / references.count:.1f} % cache misses")
    events = (found.instructions, found.cycles, misses, references)
    least = min(event.counted_share for event in events if event is not None)
    if least < 1:
        parts.append(f"counted {100 * least:.0f} % of the time")
    return ", ".join(parts)


def _latency(workers: Sequence[WorkerRecord]) -> Iterator[str]:
    for worker in workers:
        time = worker.step_time
        if time is not None:
            yield (
                f"vector step (worker {worker.worker}): p10 {time.p10_ms:.3f}   p50 {time.p50_ms:.3f}   "
                f"p90 {time.p90_ms:.3f}   p99 {time.p99_ms:.3f} ms"
            )


def _workers(record: RunRecord) -> list[str]:
    rows = [("worker", "node", "CPUs", "envs", "share", "step p50", "CPU", "placement")]
    for worker in record.workers:
        node = worker.placement["node"]
        cpus = worker.placement["cpus"]
        time = worker.step_time
        rows.append(
            (
                str(worker.worker),
                UNKNOWN if node is None else str(node),
                format_cpulist(cpus) if cpus else "all",
                str(worker.num_envs),
                UNKNOWN if worker.share is None else f"{100 * worker.share:.1f} %",
                UNKNOWN if time is None else _milliseconds(time.p50_ms),
                UNKNOWN if worker.use is None else f"{worker.use.cpu_percent:.0f} %",
                placement_outcome(worker),
            )
        )
    return aligned(rows, right=(3, 4, 5, 6))


def placement_outcome(worker: WorkerRecord) -> str:
    """Return what came of binding, and where the pages are, in words."""
    outcome = worker.outcome or {}
    cpu, memory = (outcome.get(part, {}).get("state", "unknown") for part in ("cpu", "memory"))
    return f"CPU {cpu}, memory {memory}{_residency(worker)}"


def _residency(worker: WorkerRecord) -> str:
    """Return the part of the worker's own pages that lie on its memory nodes, in words."""
    residency: dict[str, Any] = (worker.audit_after or {}).get("residency") or {}
    pages: dict[str, int] = residency.get("own_bytes") or {}
    wanted = worker.placement["memory_nodes"]
    total = sum(pages.values())
    if not total or not wanted:
        return ""
    share = 100 * sum(pages.get(str(node), 0) for node in wanted) / total
    return f" ({share:.1f} % on node{'s' * (len(wanted) != 1)} {format_cpulist(wanted)})"


def failure_lines(record: RunRecord) -> Iterator[str]:
    """Yield why a run has no figure."""
    failure = record.failure
    if failure is None:
        verb = (
            "was measured, but is invalid"
            if record.status is Status.INVALID
            else f"ended as {record.status.value}"
        )
        yield f"This run {verb}: no figure is given."
        return
    yield from failure.message.splitlines()
    if failure.traceback:
        yield from ("", *failure.traceback.rstrip().splitlines())
    if failure.log_tail:
        yield from ("", f"The log of worker {failure.worker} ends with:")
        yield from (f"  | {line}" for line in failure.log_tail)


def warning_lines(record: RunRecord) -> Iterator[str]:
    """Yield what makes a figure doubtful, each with what to do."""
    for warning in record.warnings:
        remedy = f" {warning.remedy}" if warning.remedy else ""
        yield f"  ! {warning.message}{remedy}"
