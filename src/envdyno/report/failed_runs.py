"""Runs that have no figure: why, and what would help."""

from __future__ import annotations

from envdyno.record.run_record import RunRecord
from envdyno.record.status import FailureRecord
from envdyno.report.reasons import WHAT_TO_DO
from envdyno.report.sentences import finished

LOG = "Its log is in the bundle, under runs/."
REMEDIES = {
    "deadline": "The stacks of its threads at the end of its log; a longer --deadline if it only needs time.",
    "placement": "Fewer or other CPUs, or a run without --strict-placement.",
    "late": "A longer --warmup, or a quieter machine.",
    "launch": "An interpreter that starts: --python.",
    "interrupt": "The same command again.",
    "skipped": "Go on with --resume.",
}
"""By kind of failure."""


def failed_run_note(record: RunRecord) -> str:
    """Return what a run without a figure was, why it has none, and what would help."""
    what = f"{record.case.workload}, {record.case.num_envs:,} envs"
    if record.failure is None:
        return f"{what}: ended as {record.status.value}. {WHAT_TO_DO} {LOG}"
    return f"{what}: {finished(record.failure.message)} {WHAT_TO_DO} {_remedy(record.failure)}"


def _remedy(failure: FailureRecord) -> str:
    if failure.signal == "SIGKILL":
        return f"Fewer environments or workers, if memory ran out. {LOG}"
    return REMEDIES.get(failure.kind, LOG)
