"""An experiment in the terminal: cases as a tree, ratios as pictures, phases as bars, warnings last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from envdyno.experiment.judging import Judgement
from envdyno.judge.attribution import Clock
from envdyno.judge.case_verdict import CaseVerdict
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.report.case_tree import case_tree
from envdyno.report.columns import aligned
from envdyno.report.experiment_runs import run_doubts, runs_line, uninstrumented
from envdyno.report.phase_bars import phase_bar_lines
from envdyno.report.ratio_picture import LEGEND, RatioScale, ratio_picture, ratio_scale, scale_line
from envdyno.report.reasons import NO_RESULT, reason_notes
from envdyno.report.sentences import wrapped
from envdyno.report.verdict_table import UNIT, UNKNOWN, rate_text, ratio_text, side_headings
from envdyno.report.worker_shares import worker_lines

MIN_PICTURE, MAX_PICTURE = 20, 40
GAP = "  "


def show_experiment(
    head: ExperimentRecord,
    judgement: Judgement,
    records: Sequence[RunRecord],
    *,
    judged: bool,
    width: int = 80,
) -> list[str]:
    """Return one side against the base.

    Args:
        head: the head of the bundle.
        judgement: the judge's word.
        records: all records of the bundle.
        judged: whether a gate was asked for.
        width: of the screen, in characters.
    """
    report, other = judgement.report, judgement.other
    names = (head.sides[0].name, other)
    own = [record for record in records if record.experiment and record.experiment.side in names]
    base_heading, other_heading = side_headings(head, other)
    verdict = f"   {report.verdict.name}" if judged else ""
    lines = [*wrapped(f"{other_heading} over {base_heading}{verdict}", width), ""]
    lines += _pictures(report.cases, judged=judged, width=width)
    lines += ["", *_rates(report.cases, names)]
    for found in judgement.attributions:
        if found.clock is Clock.WALL:
            lines += ["", *phase_bar_lines(found, names, width)]
    for case in head.cases:
        runs = [one for one in own if one.experiment and one.experiment.case == case]
        workers = worker_lines(runs, width)
        lines += ["", f"{case}: shares of the workers", *workers] if workers else []
    notes = list(_warnings(head, judgement, own, judged=judged))
    return [*lines, "", *(line for note in notes for line in wrapped(note, width))]


class _Row(NamedTuple):
    name: str
    verdict: str
    ratio: str
    case: CaseVerdict | None


def _pictures(cases: Sequence[CaseVerdict], *, judged: bool, width: int) -> list[str]:
    """Return the tree, with verdict, ratio and picture behind each case, or below it on a narrow screen."""
    rows = list(_rows(cases, judged=judged))
    names = max(len(row.name) for row in rows)
    verdicts = max(len(row.verdict) for row in rows)
    ratios = max(len(row.ratio) for row in rows)
    beside = width - names - verdicts - ratios - 3 * len(GAP)
    fits = beside >= MIN_PICTURE
    offset = verdicts + ratios + 3 * len(GAP) + (names if fits else 0)
    scale = ratio_scale(cases, min(MAX_PICTURE, beside if fits else width - offset), judged=judged)
    lines = []
    for row in rows:
        picture = ratio_picture(row.case, scale, judged=judged) if row.case else ""
        figures = GAP.join(("", row.verdict.ljust(verdicts), row.ratio.ljust(ratios), picture))
        if fits:
            lines.append(f"{row.name.ljust(names)}{figures}".rstrip())
        else:
            lines += [row.name, figures.rstrip()] if row.case else [row.name]
    return [*lines, _legend(scale, cases, offset, judged=judged), LEGEND]


def _rows(cases: Sequence[CaseVerdict], *, judged: bool) -> Iterator[_Row]:
    by_name = {case.case: case for case in cases}
    for branch in case_tree(list(by_name)):
        found = by_name.get(branch.case or "")
        verdict = found.verdict.name if found and (judged or found.verdict in NO_RESULT) else ""
        name = "  " * branch.depth + branch.text
        yield _Row(name, verdict, ratio_text(found) if found else "", found)


def _legend(scale: RatioScale, cases: Sequence[CaseVerdict], offset: int, *, judged: bool) -> str:
    bounds = {case.min_ratio for case in cases}
    bound = bounds.pop() if judged and len(bounds) == 1 else None
    return " " * offset + scale_line(scale, bound)


def _rates(cases: Sequence[CaseVerdict], sides: tuple[str, str]) -> list[str]:
    """Return median and range of both sides, a row each."""
    rows: list[tuple[str, ...]] = [(UNIT, "", "median", "min", "max", "runs")]
    for case in cases:
        for side, summary in zip(sides, (case.base, case.head), strict=True):
            figures = (summary.median, summary.minimum, summary.maximum)
            texts = [UNKNOWN if value is None else rate_text(value) for value in figures]
            name = case.case if side == sides[0] else ""
            rows.append((name, side, *texts, f"{summary.n} of {summary.planned}"))
    return aligned(rows, right=(2, 3, 4))


def _warnings(
    head: ExperimentRecord, judgement: Judgement, records: Sequence[RunRecord], *, judged: bool
) -> Iterator[str]:
    """Yield what stands beside the figures, and last what makes them doubtful, each with what to do."""
    yield f"order: {' | '.join(sorted(set(head.orders.values())))}"
    yield from (f"package: {difference}" for difference in head.package_differences)
    yield runs_line(records)
    yield from (f"! {note}" for note in reason_notes(head, judgement, judged=judged))
    yield from run_doubts(records)
    yield from uninstrumented(head, records)
    yield from (f"! {notice}" for notice in head.notices)
