"""Everything that is known of a run when it has ended, well or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from envdyno.agent.placement.pools import ThreadVariables
from envdyno.agent.protocol import FromWorker
from envdyno.host.counters import Use
from envdyno.host.hardware_counters import HardwareUse
from envdyno.host.site import Site
from envdyno.launch.conductor import WorkerState
from envdyno.launch.failure import Failure
from envdyno.plan.run_request import RunRequest


@dataclass
class RunOutcome:
    """Everything that is known when a run has ended, well or not."""

    request: RunRequest
    site: Site
    shares: tuple[int, ...]
    started_at: datetime
    folder: Path
    variables: tuple[ThreadVariables, ...] = ()
    states: list[WorkerState] = field(default_factory=list)
    window_ns: tuple[int, int] | None = None
    use: Use | None = None
    control_cpus: tuple[int, ...] | None = None
    """CPUs of envdyno's own process in the window, where it was kept off those of the workers."""
    hardware: HardwareUse | None = None
    """Where it is not ``None``, also if every event is missing in it; ``None`` where none was asked for."""
    failure: Failure | None = None
    interrupted_by: int | None = None
    left_processes: int = 0
    elapsed_s: float = 0.0

    def message(self, worker: int, kind: FromWorker) -> dict[str, Any]:
        """Return what a worker told, or an empty message where it told nothing."""
        if worker >= len(self.states):
            return {}
        return self.states[worker].messages.get(kind, {})
