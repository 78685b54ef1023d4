"""What an experiment shows while it runs: the run in hand, the time left, and the ratios so far."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from envdyno.agent.job import Timing
from envdyno.agent.stages import Stage
from envdyno.cli.ab_output import AbOutput
from envdyno.cli.ratios_so_far import RatiosSoFar
from envdyno.launch.interrupts import Interrupts
from envdyno.plan.expand import PlannedRun
from envdyno.plan.quantities import format_duration
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.progress import ProgressLine
from envdyno.report.verdict_table import rate_text


class ExperimentProgress:
    """Feeds the progress line, and tells every run that ends in one line. Watches the runs as they go."""

    def __init__(
        self,
        line: ProgressLine,
        output: AbOutput,
        interrupts: Interrupts,
        sides: Sequence[str],
        total: int,
    ) -> None:
        """Show on ``line`` and ``output``; ratios are those of other sides to the first."""
        self._line = line
        self._output = output
        self._interrupts = interrupts
        self._total = total
        self._began = time.monotonic()
        self._settled_before = 0
        self._number = 0
        self._measuring = False
        self._told_patience = False
        self._ratios = RatiosSoFar(sides[0], sides[1:])

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

    def look(self, run: PlannedRun) -> None:
        """A side is built once, before anything is measured."""
        self._line.begin(f"before measuring: {run.case}, side {run.side}")

    def begin_measuring(self, earlier: Iterable[RunRecord]) -> None:
        """The first run comes next; ``earlier`` are the records of an experiment that is carried on."""
        settled = 0
        for record in earlier:
            self._ratios.take(record)
            settled += record.experiment is not None and record.experiment.final
        self._measuring = True
        self._settled_before = settled
        self._began = time.monotonic()
        if settled:
            self._output.tell_progress(f"{settled} of {self._total} runs are settled already.")

    def begin(self, run: PlannedRun, settled: int, planned: int) -> None:
        """A planned run begins."""
        self._number = settled + 1
        self._line.begin(
            f"{settled + 1} of {planned}{self._time_left(settled, planned)}   "
            f"{run.case}, pair {run.pair}, side {run.side}",
            [f"so far {text}" for text in self._ratios.texts(run.case)],
        )

    def _time_left(self, settled: int, planned: int) -> str:
        done = settled - self._settled_before
        if done <= 0:
            return ""
        each = (time.monotonic() - self._began) / done
        return f", at most {format_duration(each * (planned - settled))} left"

    def end(self, record: RunRecord) -> None:
        """A run ended, and its record is kept."""
        self._output.keep(record)
        ratios = self._ratios.take(record)
        if record.status is not Status.SKIPPED:
            self._output.tell_progress(self._line_of(record))
        entry = record.experiment
        if ratios and entry is not None:
            margin = " " * (2 * len(str(self._total)) + len("[/] "))
            self._output.tell_progress(f"{margin}{entry.case}  so far  {', '.join(ratios)}")

    def _line_of(self, record: RunRecord) -> str:
        entry = record.experiment
        assert entry is not None
        width = len(str(self._total))
        what = f"[{self._number:>{width}}/{self._total}] {entry.case}  pair {entry.pair}  {entry.side}"
        if record.throughput is None:
            reason = record.failure.message if record.failure else "its work was not valid"
            again = "" if entry.final or record.status is Status.INTERRUPTED else " It is tried again."
            return f"{what}  {record.status.value}: {reason.splitlines()[0]}{again}"
        phases = "  phases on" if record.case.timing == Timing.ATTRIBUTION.value else ""
        again = "" if entry.final else ", is repeated"
        load = record.machine.foreign_cores_chosen if record.machine else 0.0
        disturbed = f"  ! {load:.2f} cores of other work{again}" if entry.disturbed else ""
        return f"{what}  {rate_text(record.throughput.transitions_per_s)} transitions/s{phases}{disturbed}"
