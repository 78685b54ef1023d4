"""An experiment as text: ratios and verdicts first, then the phases that explain them, then what to doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdyno.judge.attribution import Attribution
from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.gate import GateReport
from envdyno.judge.reasons import Alarm, ReasonCode
from envdyno.judge.verdicts import Verdict
from envdyno.record.counted import counted
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.report.experiment_runs import phase_calls, run_doubts, runs_line, uninstrumented
from envdyno.report.hardware_changes import hardware_change_lines
from envdyno.report.phase_changes import phase_change_lines
from envdyno.report.sentences import finished, wrapped
from envdyno.report.verdict_table import resolution_text, verdict_table

DRIFTS = frozenset({ReasonCode.BATCH_SHIFT, ReasonCode.MACHINE_TREND, ReasonCode.RATIO_TREND})
NO_RESULT = frozenset({Verdict.NOT_MEASURED, Verdict.INCOMPARABLE})
SHOWN_PAIRS = 8
SHOWN_ALIKE = 2
"""So many alarms of one kind are shown in full; further cases are only named."""


def experiment_lines(
    head: ExperimentRecord,
    other: str,
    report: GateReport,
    attributions: Sequence[Attribution],
    records: Sequence[RunRecord],
    *,
    judged: bool,
    width: int = 100,
) -> list[str]:
    """Return the report of one side against the base.

    Args:
        head: the head of the bundle.
        other: name of the side that is compared with the base.
        report: the judge's report.
        attributions: of the cases that have attribution runs.
        records: all records of the bundle.
        judged: whether a gate was asked for; without one no verdict is shown, only what has no result.
        width: of the screen, in characters.
    """
    sides = (head.sides[0].name, other)
    own = [record for record in records if record.experiment and record.experiment.side in sides]
    lines = verdict_table(head, other, report, judged=judged, width=width)
    for case in report.cases:
        if (judged and case.verdict is not Verdict.PASS) or case.verdict in NO_RESULT:
            lines += ["", *wrapped(_reason(head, case), width)]
        for found in attributions:
            if found.case == case.case:
                lines += ["", *phase_change_lines(found, sides, phase_calls(own, case.case, sides), width)]
        if counted := hardware_change_lines(case.hardware, sides):
            lines += ["", case.case, *counted]
    notes = [*_notes(head, report, own), *(f"! {notice}" for notice in head.notices)]
    return [*lines, "", *(line for note in notes for line in wrapped(note, width))]


def _reason(head: ExperimentRecord, case: CaseVerdict) -> str:
    """Return why a case has the verdict that it has."""
    message = head.cannot_run.get(case.case) or case.message
    more = ""
    if case.more_pairs is not None and "more pair" not in message:
        more = f" About {counted(case.more_pairs, 'more pair')} would decide it."
    first, *rest = finished(message).splitlines()
    return "\n".join([f"{case.case}: {case.verdict.name} ({case.code.name}). {first}{more}", *rest])


def _notes(head: ExperimentRecord, report: GateReport, records: Sequence[RunRecord]) -> Iterator[str]:
    orders = " | ".join(sorted({_short_order(order) for order in head.orders.values()}))
    measured = [case for case in report.cases if case.case not in {**head.misaligned, **head.cannot_run}]
    alarms = [*report.alarms, *(alarm for case in measured for alarm in case.alarms)]
    drift = "see below" if any(alarm.code in DRIFTS for alarm in alarms) else "none seen"
    apart = sorted({kind for kinds in head.differences.values() for kind in kinds})
    yield f"sides differ in: {', '.join(apart) or 'nothing'}   order: {orders}   drift: {drift}"
    yield from (f"  {difference}" for difference in head.package_differences)
    yield runs_line(records)
    if (resolution := resolution_text(report)) is not None:
        yield resolution
    for case in report.cases:
        if case.exception is not None:
            until = case.exception.expires.isoformat()
            yield (
                f"exception for {case.case}: {case.exception.min_ratio:g} instead of "
                f"{report.rule.min_ratio:g}, {case.exception.reason} ({case.exception.owner}, until {until})"
            )
    yield from _alarms(alarms)
    yield from run_doubts(records)
    yield from uninstrumented(head, records)


def _short_order(order: str) -> str:
    """Return the order of the sides; of many pairs, the first ones and how many there are."""
    pairs = order.split()
    return order if len(pairs) <= SHOWN_PAIRS else f"{' '.join(pairs[:4])} … ({counted(len(pairs), 'pair')})"


def _alarms(alarms: Sequence[Alarm]) -> Iterator[str]:
    """Yield every alarm once; where many cases have the same, the first ones in full."""
    by_code: dict[ReasonCode, list[Alarm]] = {}
    for alarm in dict.fromkeys(alarms):
        by_code.setdefault(alarm.code, []).append(alarm)
    for code, alike in by_code.items():
        shown = alike if len(alike) <= SHOWN_ALIKE + 1 else alike[:SHOWN_ALIKE]
        yield from (f"! {finished(alarm.message)} ({code.name})" for alarm in shown)
        if rest := [alarm.case or "" for alarm in alike[len(shown) :]]:
            yield f"  {code.name} too: {', '.join(rest)}."
