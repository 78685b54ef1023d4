"""An experiment as text: ratios and verdicts first, then the phases that explain them, then what to doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdyno.judge.attribution import Attribution, PhaseChange
from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.gate import GateReport
from envdyno.judge.phase_tree import PhaseKind
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.summaries import Summary
from envdyno.judge.verdicts import Verdict
from envdyno.record.experiment import ExperimentRecord
from envdyno.report.columns import aligned

UNKNOWN = "-"


def experiment_lines(
    head: ExperimentRecord,
    other: str,
    report: GateReport,
    attributions: Sequence[Attribution],
    *,
    judged: bool,
) -> list[str]:
    """Return the report of one side against the base.

    Args:
        head: the head of the bundle.
        other: name of the side that is compared with the base.
        report: the judge's report.
        attributions: of the cases that have attribution runs.
        judged: whether a gate was asked for; without one, no verdict is shown.
    """
    by_case = {attribution.case: attribution for attribution in attributions}
    lines = _table(head, other, report, judged)
    for case in report.cases:
        if judged and case.verdict is not Verdict.PASS:
            lines += ["", f"{case.case}: {case.verdict.name}. {_sentence(case.message)}{_more(case)}"]
        if case.case in by_case:
            lines += ["", *attribution_lines(by_case[case.case])]
    lines += ["", *_notes(head, report)]
    return lines


def _table(head: ExperimentRecord, other: str, report: GateReport, judged: bool) -> list[str]:
    labels = {side.name: f"{side.name} ({side.label})" for side in head.sides}
    header = ["", labels[head.sides[0].name], labels[other], "ratio [95 %]", "smallest visible", "n"]
    rows = [[*header, "verdict"] if judged else header]
    for case in report.cases:
        row = [
            case.case,
            summary_text(case.base),
            summary_text(case.head),
            _ratio(case),
            _smallest(case),
            f"{case.base.n} of {case.base.planned}",
        ]
        rows.append([*row, case.verdict.name] if judged else row)
    return aligned(rows)


def summary_text(summary: Summary) -> str:
    """Return median and range of transitions a second."""
    if summary.median is None:
        return UNKNOWN
    return f"{summary.median:,.0f} [{summary.minimum:,.0f}–{summary.maximum:,.0f}]"


def _ratio(case: CaseVerdict) -> str:
    estimate = case.estimate
    if estimate is None:
        return UNKNOWN
    interval = estimate.interval
    if interval is None:
        return f"{estimate.ratio:.3f}"
    return f"{estimate.ratio:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _smallest(case: CaseVerdict) -> str:
    found = case.estimate.smallest_change if case.estimate else None
    return UNKNOWN if found is None else f"{100 * found:.1f} %"


def _more(case: CaseVerdict) -> str:
    if case.more_pairs is None:
        return ""
    return f" About {case.more_pairs} more pair{'s' * (case.more_pairs != 1)} would decide it."


def attribution_lines(found: Attribution) -> list[str]:
    """Return where the change of a vector step comes from, in ms of a vector step."""
    total = found.total
    clock = "" if found.clock.value == "wall" else " (CPU time)"
    lines = [f"{found.case}{clock}, ms a vector step, {found.pairs} attribution pairs"]
    rows = [("  vector step", _ms(total.base_ms), _ms(total.head_ms), _delta(total), "")]
    for change in found.phases:
        name = "  " * (change.node.depth + 2) + change.node.path.rpartition("/")[2]
        rows.append((name, _ms(change.base_ms), _ms(change.head_ms), _delta(change), _share(change, total)))
    lines += aligned([(row[0], row[1], "→", row[2], row[3], row[4]) for row in rows], right=(1, 3))
    if found.explained_by is not None:
        lines.append(f"  More than half of the change is {found.explained_by.path}.")
    lines += [f"  ! {_sentence(alarm.message)}" for alarm in found.alarms]
    return lines


def _ms(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _delta(change: PhaseChange) -> str:
    if change.delta_ms is None:
        return ""
    if change.interval is None:
        return f"{change.delta_ms:+.3f}"
    return f"{change.delta_ms:+.3f} [{change.interval.low:+.3f}, {change.interval.high:+.3f}]"


def _share(change: PhaseChange, total: PhaseChange) -> str:
    """Return a part's share of the change, where there is a change to share."""
    if change.share is None or change.node.kind is PhaseKind.GROUP or not total.is_shown:
        return ""
    return f"{100 * change.share:.0f} %"


def _notes(head: ExperimentRecord, report: GateReport) -> Iterator[str]:
    orders = sorted(set(head.orders.values()))
    packages = len(head.package_differences)
    differ = (
        f"{packages} package{'s' * (packages != 1)} differ{'s' * (packages == 1)}"
        if packages
        else "same packages"
    )
    yield f"sides: {differ}   order: {' | '.join(orders)}"
    yield from (f"  {difference}" for difference in head.package_differences)
    for case in report.cases:
        if case.exception is not None:
            until = case.exception.expires.isoformat()
            yield (
                f"exception for {case.case}: {case.exception.min_ratio:g} instead of "
                f"{report.rule.min_ratio:g}, "
                f"{case.exception.reason} ({case.exception.owner}, until {until})"
            )
    for expired in report.expired:
        day = expired.expires.isoformat()
        yield f"! The exception for {expired.case} expired on {day}; it no longer holds."
    for unmatched in report.unmatched:
        yield f"! The exception for {unmatched.case} matches no case of this experiment."
    seen: set[tuple[ReasonCode, str]] = set()
    for alarm in (*report.alarms, *(alarm for case in report.cases for alarm in case.alarms)):
        if (alarm.code, alarm.message) not in seen:
            seen.add((alarm.code, alarm.message))
            yield f"! {_sentence(alarm.message)} ({alarm.code.name})"
    yield from (f"! {notice}" for notice in head.notices)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
