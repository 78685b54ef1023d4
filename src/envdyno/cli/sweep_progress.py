"""What a sweep shows while it runs: the run in hand, the time left, and the highest rate so far."""

from __future__ import annotations

import time

from envdyno.agent.stages import Stage
from envdyno.cli.ab_output import AbOutput
from envdyno.experiment.sweep_course import SweepCourse
from envdyno.launch.interrupts import Interrupts
from envdyno.plan.expand import PlannedRun
from envdyno.plan.quantities import format_duration
from envdyno.record.counted import counted
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting, scouted_num_envs
from envdyno.record.status import Status
from envdyno.report.progress import ProgressLine
from envdyno.report.sweep_report import setting_text
from envdyno.report.verdict_table import rate_text


class SweepProgress:
    """Feeds the progress line, and tells every run that ends in one line. Watches the runs as they go."""

    def __init__(self, line: ProgressLine, output: AbOutput, interrupts: Interrupts) -> None:
        """Show on ``line`` and ``output``."""
        self._line = line
        self._output = output
        self._interrupts = interrupts
        self._began = time.monotonic()
        self._settled_before = 0
        self._number = 0
        self._total = 0
        """Runs of the grid."""
        self._scouting = 0
        """Scouting runs, which come first."""
        self._measuring = False
        self._told_patience = False
        self._told_end = ""
        self._highest: tuple[float, str] | None = None

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
        """The workload is built once, before anything is measured."""
        self._line.begin(f"before measuring: {run.workload}")

    def begin_measuring(self, course: SweepCourse, settled: int) -> None:
        """The first run of scouting or of the grid comes next; so many runs are settled."""
        self._measuring = True
        self._settled_before = settled
        self._began = time.monotonic()
        self._scouting = len(course.scouting)
        self._total = len(course.runs) - self._scouting
        self._highest = None
        if course.grid is None:
            self._output.tell_progress("Scouting for batch sizes, smallest first.")
            return
        count = len(course.grid.settings)
        grid = self._total
        self._output.tell_progress(f"{counted(count, 'setting')}, {counted(grid, 'run')}.")
        done = settled - self._scouting
        if done > 0:
            self._output.tell_progress(f"{done} of {grid} runs are settled already.")

    def begin(self, run: PlannedRun, settled: int, planned: int) -> None:
        """A planned run begins."""
        self._number = settled + 1 - self._scouting
        place = "scouting" if scouted_num_envs(run.case) else f"{self._number} of {self._total}"
        left = "" if scouted_num_envs(run.case) else self._time_left(settled, planned)
        notes = []
        if self._highest is not None:
            rate, what = self._highest
            notes.append(f"highest so far {rate_text(rate)} transitions/s: {what}")
        self._line.begin(f"{place}{left}   {_what(run.case, run.num_envs)}", notes)

    def _time_left(self, settled: int, planned: int) -> str:
        done = settled - self._settled_before
        if done <= 0:
            return ""
        each = (time.monotonic() - self._began) / done
        return f", about {format_duration(each * (planned - settled))} left"

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
        width = len(str(self._total))
        is_scouting = scouted_num_envs(entry.case) is not None
        place = "scouting" if is_scouting else f"[{self._number:>{width}}/{self._total}]"
        what = f"{place} {_what(entry.case, record.case.num_envs)}"
        if record.throughput is None:
            reason = record.failure.message if record.failure else "its work was not valid"
            again = "" if entry.final or record.status is Status.INTERRUPTED else " It is tried again."
            return f"{what}  {record.status.value}: {reason.splitlines()[0]}{again}"
        again = "" if entry.final else ", is repeated"
        load = record.machine.foreign_cores_chosen if record.machine else 0.0
        disturbed = f"  ! {load:.2f} cores of other work{again}" if entry.disturbed else ""
        return f"{what}  {rate_text(record.throughput.transitions_per_s)} transitions/s{disturbed}"


def _what(case: str, num_envs: int) -> str:
    setting = Setting.of_case(case)
    return setting_text(setting) if setting is not None else f"{num_envs:,} envs"
