"""The figures of each case, the most telling cases first, within a budget of size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from envdyno.experiment.judging import Judgement
from envdyno.experiment.material import Material
from envdyno.judge.attribution import Attribution, Clock
from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.evidence import CaseEvidence
from envdyno.judge.verdicts import Verdict
from envdyno.record.counted import agreeing, counted
from envdyno.record.printable import printable
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.figures.phases import waterfall_figure
from envdyno.report.figures.runs import every_run_figure, over_time_figure
from envdyno.report.figures.style import Spec
from envdyno.report.figures.svg import svg_of
from envdyno.report.figures.within import distribution_figure, series_figure
from envdyno.report.html.tables import Table, phase_table
from envdyno.report.step_samples import Quantiles, step_quantiles

BUDGET = 900_000
"""Characters of SVG in a page; a case that would begin beyond is named and left out."""
MAX_CASES = 12
ORDER = (Verdict.FAIL, Verdict.UNDECIDED, Verdict.INCOMPARABLE, Verdict.NOT_MEASURED, Verdict.PASS)


class Figure(NamedTuple):
    """A figure with its words."""

    id: str
    title: str
    caption: str
    svg: Markup


class CaseDetails(NamedTuple):
    """All figures of one case."""

    title: str
    figures: tuple[Figure, ...]
    phases: Table | None


def drawn(name: str, title: str, caption: str, spec: Spec | None) -> Iterator[Figure]:
    """Yield the figure, or nothing where there is nothing to draw."""
    if spec is not None:
        # What vl-convert returns has every text escaped; nothing else of the page is marked as safe.
        yield Figure(name, title, caption, Markup(svg_of(spec, f"{title} {caption}")))  # noqa: S704


def case_details(
    material: Material, judgement: Judgement, sides: tuple[str, str], number: int
) -> tuple[tuple[CaseDetails, ...], str]:
    """Return the figures of the cases that are shown, and a sentence on those that are not.

    Args:
        material: the bundle.
        judgement: of the side that is shown.
        sides: names of base and that side.
        number: of the comparison in the page, from 0; keeps names of figures apart.
    """
    ordered = sorted(judgement.report.cases, key=lambda case: ORDER.index(case.verdict))
    found: list[CaseDetails] = []
    used = 0
    for case in ordered[:MAX_CASES]:
        evidence = judgement.evidence.case(case.case)
        if used > BUDGET:
            break
        if evidence is None or not any(run.is_usable for run in evidence.runs):
            continue
        attribution = next(
            (
                one
                for one in judgement.attributions
                if one.case == case.case and one.clock is Clock.WALL and one.total.delta_ms is not None
            ),
            None,
        )
        name = f"c{number}-{len(found)}"
        figures = tuple(_figures(material, case, evidence, attribution, sides, name))
        used += sum(len(figure.svg) for figure in figures)
        phases = phase_table(attribution, sides, f"{name}-phases") if attribution else None
        found.append(CaseDetails(printable(case.case), figures, phases))
    left = len(judgement.report.cases) - len(found)
    results = agreeing(left, "its result is", "their results are")
    sentence = f"Figures of {counted(left, 'further case')} are left out; {results} above."
    return tuple(found), sentence if left else ""


def _figures(
    material: Material,
    case: CaseVerdict,
    evidence: CaseEvidence,
    attribution: Attribution | None,
    sides: tuple[str, str],
    name: str,
) -> Iterator[Figure]:
    shown = (printable(sides[0]), printable(sides[1]))
    records = [one for one in material.records if one.experiment and one.experiment.case == case.case]
    caption = "Lines join the runs of a pair; 1A is the base's run of pair 1. Hollow: disturbed."
    yield from drawn(
        f"{name}-time", "Runs in order of time.", caption, over_time_figure(evidence.runs, shown)
    )
    caption = "A point a run; the bar is the median."
    yield from drawn(f"{name}-runs", "Every run.", caption, every_run_figure(evidence.runs, shown))
    if attribution is not None:
        caption = "Each phase's change, from attribution runs, adds up to the whole."
        figure = waterfall_figure(attribution, shown)
        yield from drawn(f"{name}-phases", f"Phases, {shown[0]} to {shown[1]}.", caption, figure)
    quantiles = _quantiles(material, records, sides)
    if quantiles:
        steps = sum(one.steps for one in quantiles.values())
        caption = f"Cumulative, {counted(steps, 'step')} of throughput runs, up to the 99.9th percentile."
        figure = distribution_figure(quantiles, shown)
        yield from drawn(f"{name}-steps", "How long steps took.", caption, figure)
    window = next((one.case.window_s for one in records if one.case.window_s), None)
    caption = "A line a run: a slope is throttling, a leak or late compilation."
    yield from drawn(
        f"{name}-series", "Within the window.", caption, series_figure(evidence.runs, shown, window)
    )


def _quantiles(
    material: Material, records: Sequence[RunRecord], sides: tuple[str, str]
) -> dict[str, Quantiles]:
    if material.bundle is None:
        return {}
    found = {}
    for side in sides:
        own = [
            one
            for one in records
            if one.experiment
            and one.experiment.side == side
            and one.phases is None
            and one.status is Status.OK
        ]
        quantiles = step_quantiles(material.bundle, own)
        if quantiles is not None:
            found[printable(side)] = quantiles
    return found
