"""What an experiment shows while it runs: the run in hand, the time left, and the ratios so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdyno.agent.job import Timing
from envdyno.cli.ab_output import AbOutput
from envdyno.cli.planned_progress import PlannedProgress, run_text
from envdyno.cli.ratios_so_far import RatiosSoFar
from envdyno.launch.interrupts import Interrupts
from envdyno.plan.expand import PlannedRun
from envdyno.record.counted import agreeing, counted
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.progress import ProgressLine


class ExperimentProgress(PlannedProgress):
    """Tells every run that ends in one line, and the ratios so far."""

    def __init__(
        self,
        line: ProgressLine,
        output: AbOutput,
        interrupts: Interrupts,
        sides: Sequence[str],
        total: int,
    ) -> None:
        """Show on ``line`` and ``output``; ratios are those of other sides to the first."""
        super().__init__(line, output, interrupts)
        self._total = total
        self._ratios = RatiosSoFar(sides[0], sides[1:])

    def look(self, run: PlannedRun) -> None:
        """A side is built once, before anything is measured."""
        self._line.begin(f"before measuring: {run.case}, side {run.side}")

    def begin_measuring(self, earlier: Iterable[RunRecord]) -> None:
        """The first run comes next; ``earlier`` are the records of an experiment that is carried on."""
        settled = 0
        for record in earlier:
            self._ratios.take(record)
            settled += record.experiment is not None and record.experiment.final
        self._start_clock(settled, self._total)
        if settled:
            are = agreeing(settled, "is", "are")
            self._output.tell_progress(f"{settled} of {counted(self._total, 'run')} {are} settled already.")

    def begin(self, run: PlannedRun, settled: int, planned: int) -> None:
        """A planned run begins."""
        self._number = settled + 1
        left = self._left_s(settled, planned)
        time_left = "" if left is None else f", at most {left} left"
        self._line.begin(
            f"{settled + 1} of {planned}{time_left}   {run.case}, pair {run.pair}, side {run.side}",
            [f"so far {text}" for text in self._ratios.texts(run.case)],
        )

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
        phases = "  phases on" if record.case.timing == Timing.ATTRIBUTION.value else ""
        return f"{self._place()} {entry.case}  pair {entry.pair}  {entry.side}  {run_text(record, phases)}"
