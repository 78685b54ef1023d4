"""The part that each worker had in the work, as bars."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.record.worker import WorkerRecord
from envdyno.report.columns import aligned
from envdyno.report.phase_report import bar
from envdyno.report.run_report import UNKNOWN, placement_outcome
from envdyno.report.sentences import wrapped


def worker_lines(records: Sequence[RunRecord], width: int) -> list[str]:
    """Return a row a worker: medians over runs of the same case, side and placement.

    Args:
        records: runs of one case on one side.
        width: of the screen.
    """
    by_worker: dict[int, list[WorkerRecord]] = {}
    for record in records:
        for worker in record.workers if record.status is Status.OK else ():
            by_worker.setdefault(worker.worker, []).append(worker)
    if not by_worker:
        return []
    rows = [("worker", "node", "CPUs", "envs", "share", "CPU", "")]
    for number, workers in sorted(by_worker.items()):
        first, share = workers[-1], _median(one.share for one in workers)
        cpu = _median(one.use.cpu_percent if one.use else None for one in workers)
        node, cpus = first.placement.get("node"), first.placement.get("cpus")
        rows.append(
            (
                str(number),
                UNKNOWN if node is None else str(node),
                format_cpulist(cpus) if cpus else "all",
                f"{first.num_envs:,}",
                UNKNOWN if share is None else f"{100 * share:.1f} %",
                UNKNOWN if cpu is None else f"{cpu:.0f} %",
                "" if share is None else bar(share),
            )
        )
    outcomes: dict[str, list[int]] = {}
    for number, workers in sorted(by_worker.items()):
        outcomes.setdefault(placement_outcome(workers[-1]), []).append(number)
    notes = [f"worker {format_cpulist(numbers)}: {outcome}" for outcome, numbers in outcomes.items()]
    return [*aligned(rows, right=(3, 4, 5)), *(line for note in notes for line in wrapped(note, width))]


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
