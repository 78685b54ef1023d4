"""Showing judgements, and the exit code that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from envdyno.cli.exit_code import ExitCode
from envdyno.experiment.judging import Judgement
from envdyno.judge.verdicts import Verdict, exit_code, overall
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.report.experiment_report import experiment_lines


def show_judgements(
    head: ExperimentRecord,
    judgements: Sequence[Judgement],
    records: Sequence[RunRecord],
    *,
    judged: bool,
    tell: Callable[[str], None],
    width: int,
) -> int:
    """Show every side against the base; return the exit code.

    Without a gate nothing can fail, but a case that was not measured or cannot be compared is not done.
    """
    for one in judgements:
        for line in experiment_lines(
            head, one.other, one.report, one.attributions, records, judged=judged, width=width
        ):
            tell(line)
        tell("")
    if judged:
        return int(exit_code(overall(one.report.verdict for one in judgements)))
    verdicts = {case.verdict for one in judgements for case in one.report.cases}
    if Verdict.NOT_MEASURED in verdicts:
        return ExitCode.NOT_MEASURED
    return ExitCode.INCOMPARABLE if Verdict.INCOMPARABLE in verdicts else ExitCode.DONE
