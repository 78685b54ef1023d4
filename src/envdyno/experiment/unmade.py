"""The records of planned runs that gave no figures: not made, or made with other code than the side's."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone

from envdyno._version import __version__
from envdyno.agent.protocol import VERSION
from envdyno.host.site import Site
from envdyno.launch.run_record import case_record_of
from envdyno.launch.worker_record import without_rates
from envdyno.plan.command_line import run_arguments
from envdyno.plan.run_request import RunRequest, split_batch
from envdyno.plan.usage_error import UsageError
from envdyno.record.run_record import RunRecord
from envdyno.record.status import FailureRecord, Status
from envdyno.sides.problems import SideError

ABSENT = ("spec", "throughput", "totals", "reward_mean", "machine", "hardware", "software", "fingerprint")


def unmade_record(request: RunRequest, site: Site, status: Status, kind: str, reason: str) -> RunRecord:
    """Return the record of a planned run for which nothing was measured.

    Args:
        request: what was to be run.
        site: where.
        status: ``skipped`` or ``failed``.
        kind: of the failure.
        reason: a finished sentence.
    """
    case = case_record_of(request, site, _shares(request.num_envs, len(site.choice.placements)))
    return RunRecord(
        run_id=uuid.uuid4().hex,
        status=status,
        started_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        command=run_arguments(request),
        envdyno_version=__version__,
        protocol_version=VERSION,
        case=case,
        config_hash=case.config_hash(),
        failure=FailureRecord(kind=kind, worker=None, stage=None, message=reason),
        absent=dict.fromkeys(ABSENT, reason),
    )


def _shares(num_envs: int, workers: int) -> tuple[int, ...]:
    """Return each worker's share; none where the batch cannot be split, which is why nothing ran."""
    try:
        return split_batch(num_envs, workers)
    except UsageError:
        return ()


def invalid_for_its_side(record: RunRecord, error: SideError) -> RunRecord:
    """Return the record without its figures, which are those of other code than the side's."""
    figures = ("throughput", "totals", "reward_mean", "hardware", "phases")
    told = {name: why for name, why in record.absent.items() if not name.startswith("hardware.")}
    return record.model_copy(
        update={
            **dict.fromkeys(figures),
            "status": Status.INVALID,
            "failure": FailureRecord(kind="side", worker=None, stage=None, message=str(error)),
            "absent": told | dict.fromkeys(figures, "the run did not measure its side"),
            "workers": tuple(map(without_rates, record.workers)),
        }
    )
