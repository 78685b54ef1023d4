"""What a sweep shows while it runs: the run in hand, the time left, and the highest rate so far."""

from __future__ import annotations

from envdyno.cli.ab_output import AbOutput
from envdyno.cli.planned_progress import PlannedProgress, run_text
from envdyno.experiment.sweep_course import SweepCourse
from envdyno.launch.interrupts import Interrupts
from envdyno.plan.expand import PlannedRun
from envdyno.record.counted import agreeing, counted
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting, scouted_num_envs
from envdyno.record.status import Status
from envdyno.report.progress import ProgressLine
from envdyno.report.sweep_report import setting_text
from envdyno.report.verdict_table import rate_text


class SweepProgress(PlannedProgress):
    """Tells every run that ends in one line, and why scouting ends."""

    def __init__(self, line: ProgressLine, output: AbOutput, interrupts: Interrupts) -> None:
        """Show on ``line`` and ``output``."""
        super().__init__(line, output, interrupts)
        self._scouting = 0
        """Scouting runs, which come first; those of the grid are numbered by themselves."""
        self._told_end = ""
        self._highest: tuple[float, str] | None = None

    def look(self, run: PlannedRun) -> None:
        """The workload is built once, before anything is measured."""
        self._line.begin(f"before measuring: {run.workload}")

    def begin_measuring(self, course: SweepCourse, settled: int) -> None:
        """The first run of scouting or of the grid comes next; so many runs are settled."""
        self._scouting = len(course.scouting)
        self._start_clock(settled, len(course.runs) - self._scouting)
        self._highest = None
        if course.grid is None:
            self._output.tell_progress("Scouting for batch sizes, smallest first.")
            return
        count = len(course.grid.settings)
        grid = self._total
        self._output.tell_progress(f"{counted(count, 'setting')}, {counted(grid, 'run')}.")
        done = settled - self._scouting
        if done > 0:
            self._output.tell_progress(
                f"{done} of {counted(grid, 'run')} {agreeing(done, 'is', 'are')} settled already."
            )

    def begin(self, run: PlannedRun, settled: int, planned: int) -> None:
        """A planned run begins."""
        self._number = settled + 1 - self._scouting
        place = "scouting" if scouted_num_envs(run.case) else f"{self._number} of {self._total}"
        left = None if scouted_num_envs(run.case) else self._left_s(settled, planned)
        time_left = "" if left is None else f", about {left} left"
        notes = []
        if self._highest is not None:
            rate, what = self._highest
            notes.append(f"highest so far {rate_text(rate)} transitions/s: {what}")
        self._line.begin(f"{place}{time_left}   {_what(run.case, run.num_envs)}", notes)

    def end(self, record: RunRecord) -> None:
        """A run ended, and its record is kept."""
        self._output.keep(record)
        if record.throughput is not None:
            rate = record.throughput.transitions_per_s
            what = _what(record.experiment.case if record.experiment else "", record.case.num_envs)
            self._highest = max(self._highest or (0.0, ""), (rate, what))
        if record.status is not Status.SKIPPED:
            self._output.tell_progress(self._line_of(record))
        elif scouted_num_envs(record.experiment.case if record.experiment else "") and record.failure:
            self._tell_end_of_scouting(record.failure.message)

    def _tell_end_of_scouting(self, reason: str) -> None:
        text = f"No further batch size: {reason}"
        if text != self._told_end:
            self._told_end = text
            self._output.tell_progress(text)

    def _line_of(self, record: RunRecord) -> str:
        entry = record.experiment
        assert entry is not None
        place = self._place() if scouted_num_envs(entry.case) is None else "scouting"
        return f"{place} {_what(entry.case, record.case.num_envs)}  {run_text(record)}"


def _what(case: str, num_envs: int) -> str:
    setting = Setting.of_case(case)
    return setting_text(setting) if setting is not None else f"{num_envs:,} envs"
