"""What is read at the edges of one worker's window: work, and in an attribution run the phases."""

from __future__ import annotations

from typing import Any

from envdyno.agent.job import Job, Timing
from envdyno.agent.measure.phase_recorder import CpuTiming
from envdyno.agent.measure.phase_window import PhaseReading, PhaseWindow
from envdyno.agent.measure.probe_target import ProbeError, parse_probe
from envdyno.agent.measure.probes import InstalledProbes, install
from envdyno.agent.measure.window import EdgeReader
from envdyno.agent.measure.work_span import WorkSpan
from envdyno.agent.workloads.built import BuiltWorkload
from envdyno.agent.workloads.registry import WorkloadError


def install_probes(job: Job) -> InstalledProbes | None:
    """Put the probes of an attribution run in place; ``None`` where none was asked for.

    Raises:
        WorkloadError: a probe names nothing that can be timed.
    """
    if job.timing is Timing.THROUGHPUT or not job.probes:
        return None
    try:
        return install(map(parse_probe, job.probes))
    except ProbeError as error:
        raise WorkloadError(str(error)) from error


class _PhaseEdges:
    """Phases on at the first edge, off at the last."""

    def __init__(self, window: PhaseWindow) -> None:
        self._window = window
        self.reading: PhaseReading | None = None

    def open(self) -> None:
        self._window.open()

    def close(self, vector_steps: int) -> None:
        self.reading = self._window.close(vector_steps)


class EdgeReadings:
    """The readers of one worker, and what they have read."""

    def __init__(self, job: Job, workload: BuiltWorkload, probes: InstalledProbes | None) -> None:
        """Set up what the workload tells and the job asks for."""
        self._work = WorkSpan(workload.work) if workload.work is not None else None
        self._phases: _PhaseEdges | None = None
        if job.timing is Timing.ATTRIBUTION:
            cpu = CpuTiming.PROCESS if job.phase_cpu else CpuTiming.OFF
            self._phases = _PhaseEdges(PhaseWindow(workload.phases, probes, cpu))

    @property
    def readers(self) -> tuple[EdgeReader, ...]:
        """The readers; phases come last, so that nothing else is read while they are on."""
        return tuple(reader for reader in (self._work, self._phases) if reader is not None)

    def to_json(self) -> dict[str, Any]:
        """Return what was read, in plain JSON types."""
        reading = None if self._phases is None else self._phases.reading
        return {
            "work": None if self._work is None else self._work.to_json(),
            "phases": None if reading is None else reading.to_json(),
        }
