"""The table of an experiment: both sides, their ratio and the verdict of every case."""

from __future__ import annotations

from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.gate import GateReport
from envdyno.judge.summaries import Summary
from envdyno.record.counted import counted
from envdyno.record.experiment import ExperimentRecord
from envdyno.report.columns import aligned

UNKNOWN = "-"
UNIT = "transitions/s"


def verdict_table(
    head: ExperimentRecord, other: str, report: GateReport, *, judged: bool, width: int
) -> list[str]:
    """Return the table in the first form that is no wider than the screen.

    With the names of the cases in front; with each name on a line of its own; or a block for each case.
    """
    labels = side_headings(head, other)
    header = [UNIT, *labels, "ratio [95 %]", "pairs"]
    rows = [[*header, "verdict"] if judged else header]
    rows += [_row(case, judged=judged) for case in report.cases]
    for lines in (aligned(rows), _stacked(rows)):
        if max(map(len, lines)) <= width:
            return lines
    blocks = [line for case in report.cases for line in _block(case, labels, judged)]
    return blocks[:-1]


def _stacked(rows: list[list[str]]) -> list[str]:
    """Return the table with the first cell of each row on a line of its own."""
    below = aligned([["", *row[1:]] for row in rows])
    return [line for row, cells in zip(rows, below, strict=True) for line in (row[0], cells)]


def side_headings(head: ExperimentRecord, other: str) -> tuple[str, str]:
    """Return name and label of the base and of the other side."""
    labels = {side.name: f"{side.name} ({side.label})" for side in head.sides}
    return labels[head.sides[0].name], labels[other]


def _row(case: CaseVerdict, *, judged: bool) -> list[str]:
    cells = [
        case.case,
        summary_text(case.base),
        summary_text(case.head),
        ratio_text(case),
        f"{case.base.n} of {case.base.planned}",
    ]
    return [*cells, case.verdict.name] if judged else cells


def _block(case: CaseVerdict, labels: tuple[str, str], judged: bool) -> list[str]:
    rows = [
        (f"  {labels[0]}", f"{summary_text(case.base)} {UNIT}"),
        (f"  {labels[1]}", f"{summary_text(case.head)} {UNIT}"),
        ("  ratio [95 %]", f"{ratio_text(case)}   {case.base.n} of {counted(case.base.planned, 'pair')}"),
    ]
    verdict = f"   {case.verdict.name}" if judged else ""
    return [f"{case.case}{verdict}", *aligned(rows), ""]


def summary_text(summary: Summary) -> str:
    """Return median and range of a rate: ``312,512 [309,302–316,332]``."""
    if summary.median is None or summary.minimum is None or summary.maximum is None:
        return UNKNOWN
    return f"{rate_text(summary.median)} [{rate_text(summary.minimum)}–{rate_text(summary.maximum)}]"


def rate_text(rate: float) -> str:
    """Return a rate with the digits that mean something."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:,.3g}"


def ratio_text(case: CaseVerdict) -> str:
    """Return the ratio with its interval."""
    estimate = case.estimate
    if estimate is None:
        return UNKNOWN
    if estimate.interval is None:
        return f"{estimate.ratio:.3f}"
    return f"{estimate.ratio:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"


def resolution_text(report: GateReport) -> str | None:
    """Return the smallest change that these pairs could have shown, or its range over the cases."""
    found = {
        case.case: case.estimate.smallest_change
        for case in report.cases
        if case.estimate is not None and case.estimate.smallest_change is not None
    }
    if not found:
        return None
    least, most = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
    if f"{found[least]:.1%}" == f"{found[most]:.1%}":
        return f"smallest visible change: {100 * found[most]:.1f} %"
    return (
        f"smallest visible change: {100 * found[least]:.1f} % ({least}) to {100 * found[most]:.1f} % ({most})"
    )
