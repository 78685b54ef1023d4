"""From records to what the judge takes of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from envdyno.judge.sweep_evidence import SweepEvidence, SweepRun
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting
from envdyno.record.status import Status

__all__ = ["setting_of", "sweep_evidence"]


def setting_of(record: RunRecord) -> Setting | None:
    """Return the setting that a run was made with; ``None`` for a run of no sweep, and for a scouting run."""
    return Setting.of_case(record.experiment.case) if record.experiment is not None else None


def sweep_evidence(records: Sequence[RunRecord], cases: Sequence[str], blocks: int) -> SweepEvidence:
    """Return what a sweep measured.

    Args:
        records: all records of the bundle.
        cases: names of the sweep's cases, in the order of the plan; those of scouting runs are passed over.
        blocks: runs of each setting that were planned.
    """
    settings = tuple(setting for case in cases if (setting := Setting.of_case(case)) is not None)
    known = set(settings)
    runs: list[SweepRun] = []
    workers: dict[Setting, int] = {}
    for record in records:
        setting, entry = setting_of(record), record.experiment
        if setting is None or entry is None or setting not in known:
            continue
        workers.setdefault(setting, len(record.case.placements) or setting.workers_per_node)
        found = record.throughput
        if record.status is not Status.OK or found is None or not found.transitions_per_s > 0:
            continue
        if not 1 <= entry.pair <= blocks:
            continue
        runs.append(
            SweepRun(
                setting=setting,
                block=entry.pair - 1,
                transitions_per_s=found.transitions_per_s,
                disturbed=entry.disturbed,
                canary_per_s=entry.canary_per_s,
                attempt=entry.attempt,
            )
        )
    return SweepEvidence(settings, blocks, tuple(runs), workers)
