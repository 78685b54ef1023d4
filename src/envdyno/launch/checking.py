"""``envdyno check``: build a workload twice in fresh processes, look closely, and hold it to what it says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envdyno.agent.job import Purpose
from envdyno.agent.placement.request import Request
from envdyno.agent.protocol import FromWorker
from envdyno.launch.check_findings import Finding, Sighting, findings, lacking
from envdyno.launch.failure import Interrupted
from envdyno.launch.measure import failure_text, prepare
from envdyno.launch.run import execute
from envdyno.launch.run_outcome import RunOutcome
from envdyno.launch.session import Session
from envdyno.plan.run_request import RunRequest
from envdyno.plan.usage_error import UsageError

LOG_LINES = 3
"""Lines of a workload's own output that are shown."""


@dataclass(frozen=True)
class Check:
    """What came of checking one workload."""

    workload: str
    python: str
    spec: dict[str, Any]
    loaded: dict[str, Any]
    findings: tuple[Finding, ...]
    lacks: tuple[str, ...]
    """What a record of this workload would lack, in sentences."""


def check_workload(request: RunRequest, session: Session) -> Check:
    """Build and step a workload in two processes one after the other, with the same seed.

    Raises:
        UsageError: it cannot be built or stepped; the sentence says why.
        Interrupted: the user asked to end.
    """
    request = request.model_copy(update={"placement": Request(numa="off")})
    first, second = (_sight(request, session) for _ in range(2))
    spec = dict(first.told["spec"])
    return Check(
        workload=request.workload,
        python=str(request.python),
        spec=spec,
        loaded=dict(first.told["loaded"]),
        findings=findings(first, second),
        lacks=lacking(first),
    )


def _sight(request: RunRequest, session: Session) -> Sighting:
    before = _files(request.cwd)
    outcome: RunOutcome = execute(request, prepare(request), session, Purpose.CHECK)
    if outcome.interrupted_by is not None:
        raise Interrupted(outcome.interrupted_by)
    if outcome.failure is not None:
        raise UsageError(f"{request.workload} does not run. {failure_text(outcome.failure)}")
    log = outcome.folder / "worker-0.log"
    lines = tuple(log.read_text(encoding="utf-8", errors="replace").splitlines()) if log.exists() else ()
    return Sighting(
        told=outcome.message(0, FromWorker.READY),
        output_lines=len(lines),
        output=lines[:LOG_LINES],
        files=tuple(sorted(_files(request.cwd) - before)),
        left_processes=outcome.left_processes,
    )


def _files(folder: Path) -> set[str]:
    """Return the names in a folder; compiled Python is expected there and left out."""
    try:
        return {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    except OSError:
        return set()
