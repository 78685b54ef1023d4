"""What is alike in showing planned runs while they are made, be they of an experiment or of a sweep."""

from __future__ import annotations

import time

from envdyno.agent.stages import Stage
from envdyno.cli.ab_output import AbOutput
from envdyno.launch.interrupts import Interrupts
from envdyno.plan.quantities import format_duration
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.progress import ProgressLine
from envdyno.report.verdict_table import rate_text


class PlannedProgress:
    """Watches the runs as they go: feeds the progress line, answers the first Ctrl-C, counts."""

    def __init__(self, line: ProgressLine, output: AbOutput, interrupts: Interrupts) -> None:
        """Show on ``line`` and ``output``."""
        self._line = line
        self._output = output
        self._interrupts = interrupts
        self._began = time.monotonic()
        self._settled_before = 0
        self._number = 0
        self._total = 0
        self._measuring = False
        self._told_patience = False

    def stage(self, worker: int, stage: Stage) -> None:
        """A worker entered a stage."""
        self._line.stage(worker, stage)

    @property
    def follows_rate(self) -> bool:
        """Whether anybody sees how fast the workers step."""
        return self._line.follows_rate

    def rate(self, worker: int, rows_per_s: float) -> None:
        """A worker steps so many rows a second just now."""
        self._line.rate(worker, rows_per_s)

    def tick(self) -> None:
        """Time has passed; the first Ctrl-C is answered here."""
        if self._measuring and self._interrupts.arrived and not self._told_patience:
            self._told_patience = True
            self._output.tell("The run in hand is finished first; Ctrl-C again stops at once.")
        self._line.tick()

    def _start_clock(self, settled: int, total: int) -> None:
        """The first run comes next, ``settled`` of ``total`` are done: the time left is counted from here."""
        self._measuring = True
        self._settled_before = settled
        self._total = total
        self._began = time.monotonic()

    def _left_s(self, settled: int, planned: int) -> str | None:
        """Return how long the runs that are left take, at the pace so far; ``None`` before the first."""
        done = settled - self._settled_before
        if done <= 0:
            return None
        each = (time.monotonic() - self._began) / done
        return format_duration(each * (planned - settled))

    def _place(self) -> str:
        """Return the number of the run in hand: ``[ 7/20]``."""
        return f"[{self._number:>{len(str(self._total))}}/{self._total}]"


def run_text(record: RunRecord, remark: str = "") -> str:
    """Return what came of a planned run, in one line: its rate or its failure, and whether it is repeated."""
    entry = record.experiment
    is_final = entry is None or entry.final
    if record.throughput is None:
        reason = record.failure.message if record.failure else "its work was not valid"
        again = "" if is_final or record.status is Status.INTERRUPTED else " It is tried again."
        return f"{record.status.value}: {reason.splitlines()[0]}{again}"
    again = "" if is_final else ", is repeated"
    load = record.machine.foreign_cores_chosen if record.machine else 0.0
    disturbed = f"  ! {load:.2f} cores of other work{again}" if entry is not None and entry.disturbed else ""
    return f"{rate_text(record.throughput.transitions_per_s)} transitions/s{remark}{disturbed}"
