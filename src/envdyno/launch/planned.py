"""Where one planned run stands: its request, its attempts, and the record for a run that is not made."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from datetime import datetime, timezone

from envdyno._version import __version__
from envdyno.agent.protocol import VERSION
from envdyno.launch.run_record import case_record_of
from envdyno.launch.site import Site
from envdyno.plan.command_line import run_arguments
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.planned_request import planned_request
from envdyno.plan.run_request import RunRequest, split_batch
from envdyno.record.experiment import ExperimentEntry
from envdyno.record.run_record import RunRecord
from envdyno.record.status import FailureRecord, Status
from envdyno.sides.prepared import PreparedSide


def request_of(plan: ExperimentPlan, run: PlannedRun, side: PreparedSide) -> RunRequest:
    """Return what a planned run asks of the launcher, in the side's own environment."""
    request = planned_request(plan, run, side)
    return request.model_copy(update={"whole_environ": side.child_environ(os.environ)})


def entry_of(
    run: PlannedRun, *, attempt: int, final: bool, disturbed: bool = False, canary_per_s: float | None = None
) -> ExperimentEntry:
    """Return a run's place in the experiment."""
    return ExperimentEntry(
        planned_id=run.id,
        case=run.case,
        side=run.side,
        pair=run.pair,
        position=run.position,
        attempt=attempt,
        final=final,
        disturbed=disturbed,
        canary_per_s=canary_per_s,
    )


def skipped_record(request: RunRequest, site: Site, entry: ExperimentEntry, reason: str) -> RunRecord:
    """Return the record of a planned run that is not made, and why."""
    case = case_record_of(request, site, split_batch(request.num_envs, len(site.choice.placements)))
    return RunRecord(
        run_id=uuid.uuid4().hex,
        status=Status.SKIPPED,
        started_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        command=run_arguments(request),
        envdyno_version=__version__,
        protocol_version=VERSION,
        case=case,
        config_hash=case.config_hash(),
        failure=FailureRecord(kind="skipped", worker=None, stage=None, message=reason),
        absent={"throughput": reason, "totals": reason},
        experiment=entry,
    )


def settled(records: Mapping[str, RunRecord], run: PlannedRun) -> bool:
    """Return whether a planned run has its final record."""
    return run.id in records
