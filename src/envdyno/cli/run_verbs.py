"""What ``envdyno run`` does with its requests: one run, several batch sizes, a suite, or a comparison."""

from __future__ import annotations

from functools import partial

from envdyno.cli.exit_code import ExitCode
from envdyno.cli.run_output import RunOutput
from envdyno.cli.run_requests import RunOrder
from envdyno.host.quiet import wait_until_idle
from envdyno.launch.attribution import attribution_request, with_observer_effect
from envdyno.launch.compare import check_equal_actions, interleave
from envdyno.launch.measure import measure, prepare
from envdyno.launch.session import Session, open_session
from envdyno.plan.run_request import RunRequest
from envdyno.plan.usage_error import UsageError
from envdyno.record.case import Mode
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.comparison_report import batch_lines, comparison_lines, suite_lines
from envdyno.report.progress import ProgressLine

CODE_OF = {Status.OK: ExitCode.DONE, Status.INTERRUPTED: ExitCode.INTERRUPTED}

ONE_RUN_EACH = (
    "One run each tells no difference from noise; `envdyno sweep` repeats, and says which are best."
)


def run_all(order: RunOrder, wait_idle_s: float | None, output: RunOutput) -> ExitCode:
    """Measure and show; return the exit code of the worst run."""
    first = order.requests[0]
    site = prepare(first)
    if wait_idle_s is not None:
        wait_until_idle(site.chosen_cpus, first.foreign_load_limit_cores, wait_idle_s)
    window_s = first.window_s if first.mode is Mode.WINDOW else None
    with (
        ProgressLine(output.console, window_s, shown=not output.quiet) as line,
        open_session(line, output.keep) as session,
    ):
        runner = _Runner(output, line, session)
        if order.other is not None:
            runner.compare(first, order.other, order.rounds)
        else:
            runner.each(order)
    runner.show_tables()
    return runner.code


class _Runner:
    """Measures one after another, and keeps and shows each record as soon as it is there."""

    def __init__(self, output: RunOutput, line: ProgressLine, session: Session) -> None:
        self._output = output
        self._line = line
        self._session = session
        self._tables: list[str] = []
        self.code = ExitCode.DONE

    def each(self, order: RunOrder) -> None:
        """Measure every request, up to an interruption; what cannot run is listed with the reason."""
        records: list[RunRecord] = []
        refused: dict[str, str] = {}
        several = len({request.workload for request in order.requests}) > 1
        for request in order.requests:
            try:
                record = self._one(request, order.phases)
            except UsageError as error:
                if not several:
                    raise
                refused[request.workload] = str(error)
                continue
            records.append(record)
            if record.status is Status.INTERRUPTED:
                break
        if several:
            self._tables = suite_lines(records, refused)
            if refused and not records:
                self.code = ExitCode.NOT_MEASURED
        elif len(records) > 1:
            self._tables = [*batch_lines(records), "", ONE_RUN_EACH]

    def _one(self, request: RunRequest, phases: bool) -> RunRecord:
        """Measure one request, and attribute it in a run of its own where phases are wanted."""
        self._begin(request)
        record = self._take(measure(request, self._session, self._output.keep_record))
        if not phases or record.status is not Status.OK:
            return record
        self._line.begin(f"{request.workload}   phases")
        amend = partial(with_observer_effect, throughput=record)
        keep = self._output.keep_record
        return self._take(measure(attribution_request(request), self._session, keep, amend))

    def compare(self, first: RunRequest, second: RunRequest, rounds: int) -> None:
        """Measure two workloads in turn, up to an interruption."""
        self._begin(first)
        check_equal_actions(first, second, self._session)
        sides: tuple[list[RunRecord], list[RunRecord]] = ([], [])
        for side, record in interleave(
            first, second, rounds, self._session, self._begin, self._output.keep_record
        ):
            sides[side].append(record)
            if self._take(record).status is Status.INTERRUPTED:
                break
        self._tables = comparison_lines((first.workload, second.workload), sides)

    def _begin(self, request: RunRequest) -> None:
        self._line.begin(f"{request.workload}   {request.num_envs:,} envs")

    def _take(self, record: RunRecord) -> RunRecord:
        self.code = max(self.code, CODE_OF.get(record.status, ExitCode.NOT_MEASURED))
        self._output.show_record(record)
        return record

    def show_tables(self) -> None:
        """Show the table over all runs."""
        if self._tables and not self._output.quiet:
            self._output.show(self._tables)
