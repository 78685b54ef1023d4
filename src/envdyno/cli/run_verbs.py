"""What ``envdyno run`` does with its requests: one run, a sweep, or a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from envdyno.cli.exit_code import ExitCode
from envdyno.cli.run_output import RunOutput
from envdyno.launch.compare import check_equal_actions, interleave
from envdyno.launch.measure import measure, prepare
from envdyno.launch.quiet import wait_until_idle
from envdyno.launch.session import open_session
from envdyno.plan.run_request import RunRequest
from envdyno.record.case import Mode
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.comparison_report import comparison_lines, sweep_lines
from envdyno.report.progress import ProgressLine

CODE_OF = {Status.OK: ExitCode.DONE, Status.INTERRUPTED: ExitCode.INTERRUPTED}


def run_all(
    requests: Sequence[RunRequest],
    other: RunRequest | None,
    rounds: int,
    wait_idle_s: float | None,
    output: RunOutput,
) -> ExitCode:
    """Measure and show; return the exit code of the worst run."""
    site = prepare(requests[0])
    if wait_idle_s is not None:
        wait_until_idle(site.chosen_cpus, requests[0].foreign_load_limit_cores, wait_idle_s)
    window_s = requests[0].window_s if requests[0].mode is Mode.WINDOW else None
    with (
        ProgressLine(output.console, None if output.quiet else window_s) as line,
        open_session(line, output.keep) as session,
    ):
        runner = _Runner(output, line)
        if other is not None:
            check_equal_actions(requests[0], other, session)
            runner.compare(requests[0], other, rounds, session)
        else:
            runner.each(requests, session)
    runner.show()
    return runner.code


class _Runner:
    """Collects the records of one command, and what to show of them."""

    def __init__(self, output: RunOutput, line: ProgressLine) -> None:
        self._output = output
        self._line = line
        self._records: list[RunRecord] = []
        self._lines: list[str] = []
        self.code = ExitCode.DONE

    def each(self, requests: Sequence[RunRequest], session: object) -> None:
        """Measure every request, up to an interruption."""
        for request in requests:
            self._begin(request)
            record = measure(request, session, self._output.keep_record)  # type: ignore[arg-type]
            if not self._take(record):
                break
        if len(requests) > 1 and len(self._records) > 1:
            self._lines = sweep_lines(self._records)

    def compare(self, first: RunRequest, second: RunRequest, rounds: int, session: object) -> None:
        """Measure two workloads in turn, up to an interruption."""
        sides: tuple[list[RunRecord], list[RunRecord]] = ([], [])
        runs = interleave(first, second, rounds, session, self._begin, self._output.keep_record)  # type: ignore[arg-type]
        for side, record in runs:
            sides[side].append(record)
            if not self._take(record):
                break
        self._lines = comparison_lines((first.workload, second.workload), sides)

    def _begin(self, request: RunRequest) -> None:
        self._line.begin(f"{request.workload}   {request.num_envs:,} envs")

    def _take(self, record: RunRecord) -> bool:
        """Remember a record; return whether to go on."""
        self._records.append(record)
        self.code = max(self.code, CODE_OF.get(record.status, ExitCode.NOT_MEASURED))
        return record.status is not Status.INTERRUPTED

    def show(self) -> None:
        """Show every run, and then the table over them."""
        for record in self._records:
            self._output.show_record(record)
        if self._lines and not self._output.quiet:
            self._output.show(self._lines)
