"""Measuring one request to its record, and asking a workload what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.job import Purpose
from envdyno.agent.protocol import FromWorker
from envdyno.launch.quiet import check_exclusive
from envdyno.launch.run import RunOutcome, execute
from envdyno.launch.run_record import make_record
from envdyno.launch.session import Session
from envdyno.launch.site import Site, survey
from envdyno.plan.command_line import run_arguments
from envdyno.plan.run_request import RunRequest, check, split_batch
from envdyno.plan.usage_error import UsageError
from envdyno.record.run_record import RunRecord


def prepare(request: RunRequest) -> Site:
    """Check a request and choose its placements, before anything starts.

    Raises:
        UsageError: it cannot be done as asked.
    """
    check(request)
    site = survey(request.placement)
    split_batch(request.num_envs, len(site.choice.placements))
    if request.exclusive:
        check_exclusive(site, request.foreign_load_limit_cores)
    return site


def measure(
    request: RunRequest,
    session: Session,
    keep: Callable[[RunRecord], None] = lambda _record: None,
    amend: Callable[[RunRecord], RunRecord] = lambda record: record,
) -> RunRecord:
    """Run one case and return its record; ``amend`` completes it, and ``keep`` gets it at once.

    Raises:
        UsageError: it cannot be done as asked.
    """
    outcome = execute(request, prepare(request), session)
    record = amend(make_record(outcome, run_arguments(request)))
    keep(record)
    return record


def describe(request: RunRequest, session: Session) -> dict[str, Any]:
    """Build a workload in one worker and return its specification, without a step.

    Raises:
        UsageError: it cannot be built; the sentence says why.
    """
    outcome: RunOutcome = execute(request, prepare(request), session, Purpose.DESCRIBE)
    if outcome.failure is not None:
        raise UsageError(f"{request.workload} cannot be built. {outcome.failure.message}")
    spec: dict[str, Any] = outcome.message(0, FromWorker.READY).get("spec", {})
    return spec
