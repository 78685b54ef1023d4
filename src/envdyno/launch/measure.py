"""Measuring one request to its record, and asking a workload what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envdyno.agent.job import Purpose
from envdyno.agent.protocol import FromWorker
from envdyno.host.quiet import check_exclusive
from envdyno.host.site import Site, survey
from envdyno.launch.failure import Failure, Interrupted
from envdyno.launch.run import execute
from envdyno.launch.run_outcome import RunOutcome
from envdyno.launch.run_record import make_record
from envdyno.launch.session import Session
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


@dataclass(frozen=True)
class Description:
    """What a workload is, and what its process imported."""

    spec: dict[str, Any]
    loaded: dict[str, Any]
    """Distributions, origins of the modules under test, interpreter."""
    memory_short: tuple[str, ...] = ()
    """Nodes or limits with less memory than the workload says it needs, in sentences."""


def describe(request: RunRequest, session: Session, name: str | None = None) -> Description:
    """Build a workload, let it take one step, and return what it is; ``name`` as in :func:`execute`.

    Raises:
        UsageError: it cannot be built; the sentence says why.
    """
    outcome: RunOutcome = execute(request, prepare(request), session, Purpose.DESCRIBE, name)
    if outcome.interrupted_by is not None:
        raise Interrupted(outcome.interrupted_by)
    if outcome.failure is not None:
        raise UsageError(f"{request.workload} cannot be built. {failure_text(outcome.failure)}")
    told = outcome.message(0, FromWorker.READY)
    short = [
        message
        for worker in range(len(outcome.states))
        for message in outcome.message(worker, FromWorker.CAPACITY).get("warnings", ())
    ]
    return Description(told.get("spec", {}), told.get("loaded", {}), tuple(dict.fromkeys(short)))


def failure_text(failure: Failure) -> str:
    """Return a failure with the last line of its traceback's place, or of the log."""
    tail = failure.traceback.rstrip().splitlines()[-4:] if failure.traceback else list(failure.log_tail[-4:])
    return "\n".join([failure.message, *(f"    {line}" for line in tail)])
