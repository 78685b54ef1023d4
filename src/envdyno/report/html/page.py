"""The page of a bundle: what is on it, and the file that it becomes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from envdyno.experiment.judging import Judgement
from envdyno.experiment.material import Material
from envdyno.plan.usage_error import UsageError
from envdyno.record.counted import counted
from envdyno.record.printable import printable
from envdyno.report.experiment_runs import run_doubts, runs_line, uninstrumented
from envdyno.report.facts import absent_rows, fingerprint_rows, package_rows, side_rows
from envdyno.report.failed_runs import failed_run_note
from envdyno.report.figures.ratios import ratio_figure
from envdyno.report.figures.svg import MISSING
from envdyno.report.figures.sweep import sweep_figure
from envdyno.report.html.rendering import rendered
from envdyno.report.html.setting_table import setting_table
from envdyno.report.html.tables import SYMBOLS, case_table, fact_table, run_table
from envdyno.report.placement_map import placement_maps
from envdyno.report.reasons import reason_notes
from envdyno.report.replaying import replay_steps
from envdyno.report.sweep_report import answer_texts, knee_texts, sweep_answer, warning_texts
from envdyno.report.sweeps import sweeps_of
from envdyno.report.verdict_table import side_headings

PAGE = "page.html.j2"
MAX_SWEEPS = 12
MAX_PLACEMENTS = 6


class Facts(NamedTuple):
    """A table with its heading."""

    title: str
    table: Any


def html_page(material: Material) -> str:
    """Return the page of a bundle or of records.

    Raises:
        UsageError: Jinja2 or vl-convert is not installed.
    """
    try:
        from envdyno.report.html.details import drawn
    except ImportError as error:
        raise UsageError(MISSING) from error
    sweeps = [
        figure
        for number, sweep in enumerate(sweeps_of(material.records)[:MAX_SWEEPS])
        for figure in drawn(
            f"sweep-{number}",
            printable(sweep.name),
            sweep.caption,
            sweep_figure(sweep),
        )
    ]
    page = {
        "title": _title(material),
        "subtitle": _subtitle(material),
        "answer": _answer(material),
        "comparisons": [_comparison(material, one, n) for n, one in enumerate(material.judgements)],
        "sweeps": sweeps,
        "warnings": list(_warnings(material)),
        "runs_line": runs_line(material.records),
        "runs": run_table(material.records),
        "placements": placement_maps(material.records)[:MAX_PLACEMENTS],
        "facts": list(_facts(material)),
        "replay": replay_steps(material),
        "plan": _plan(material),
    }
    return rendered(PAGE, f"envdyno: {page['title']}", page)


def _title(material: Material) -> str:
    head = material.head
    if head is None:
        names = list(dict.fromkeys(record.case.workload for record in material.records))
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return printable(shown)
    if len(head.sides) == 1:
        return printable(f"sweep of {', '.join(map(str, head.plan['experiment']['cases']))}")
    base = head.sides[0].name
    return printable(f"{', '.join(side.name for side in head.sides[1:])} against {base}")


def _subtitle(material: Material) -> str:
    first = next((one for one in material.records if one.fingerprint is not None), None)
    identity = first.fingerprint.identity if first and first.fingerprint else {}
    machine = (
        f"{identity.get('cpu_model') or 'unknown CPU'}, CPUs {identity.get('online_cpus')}" if first else ""
    )
    started = min((record.started_at for record in material.records), default="")[:16].replace("T", " ")
    versions = sorted({record.envdyno_version for record in material.records})
    parts = [machine, f"{started} UTC" if started else "", f"envdyno {', '.join(versions)}"]
    return printable(" · ".join(part for part in parts if part))


def _comparison(material: Material, judgement: Judgement, number: int) -> dict[str, Any]:
    from envdyno.report.html.details import case_details, drawn

    head = material.head
    if head is None:
        raise ValueError("A comparison needs the head of its experiment.")
    sides = (head.sides[0].name, judgement.other)
    base_heading, other_heading = side_headings(head, judgement.other)
    cases, report = judgement.report.cases, judgement.report
    details, left_out = case_details(material, judgement, sides, number)
    caption = "Point and line: ratio and 95 % interval. Upright mark: the gate."
    ratios = ratio_figure(cases, judged=material.is_gated)
    return {
        "verdict": report.verdict.value if material.is_gated else "",
        "symbol": SYMBOLS[report.verdict.value],
        "summary": printable(_summary(judgement, f"{other_heading} over {base_heading}", material)),
        "cases": case_table(cases, sides, judged=material.is_gated)._replace(id=f"cases-{number}"),
        "ratios": next(drawn(f"ratios-{number}", "Every case.", caption, ratios), None),
        "reasons": [printable(note) for note in reason_notes(head, judgement, judged=material.is_gated)],
        "details": details,
        "left_out": left_out,
    }


def _summary(judgement: Judgement, sides: str, material: Material) -> str:
    cases = judgement.report.cases
    if not material.is_gated:
        return f"{sides}, {counted(len(cases), 'case')}"
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.verdict.value] = counts.get(case.verdict.value, 0) + 1
    parts = ", ".join(f"{count} {name}" for name, count in counts.items())
    bound = f"{judgement.report.rule.min_ratio:g}"
    return f"{sides}: {parts} of {counted(len(cases), 'case')}, gate {bound}."


def _answer(material: Material) -> dict[str, Any] | None:
    """Return what a sweep tells; ``None`` for anything else."""
    answer = sweep_answer(material)
    if answer is None:
        return None
    return {
        "texts": [printable(text) for text in (*answer_texts(answer), *knee_texts(answer))],
        "settings": setting_table(answer),
        "notes": [printable(note.removeprefix("! ")) for note in warning_texts(answer)],
    }


def _warnings(material: Material) -> Iterator[str]:
    notes = [*run_doubts(material.records)]
    if material.head is not None:
        notes += [*uninstrumented(material.head, material.records), *material.head.notices]
    else:
        for record in material.records:
            if record.failure is not None:
                notes.append(failed_run_note(record))
    yield from dict.fromkeys(printable(note.removeprefix("! ")) for note in notes[:200])


def _facts(material: Material) -> Iterator[Facts]:
    head = material.head
    if head is not None:
        table = fact_table("sides", side_rows(head), ("side", "label", "code", "digest"))
        yield Facts("Sides", table)
        packages = package_rows(head)
        names = ("package", *(side.name for side in head.sides))
        if packages:
            yield Facts("Packages that differ", fact_table("packages", packages, names))
    machine: Sequence[tuple[str, ...]] = fingerprint_rows(material.records)
    if machine:
        yield Facts("Fingerprint", fact_table("fingerprint", machine, ("class", "fact", "value")))
    absent = absent_rows(material.records)
    if absent:
        yield Facts("Not told", fact_table("absent", absent, ("figure", "why")))


def _plan(material: Material) -> str:
    if material.head is None:
        return ""
    return printable_lines(json.dumps(material.head.plan, indent=1, ensure_ascii=False))


def printable_lines(text: str) -> str:
    """Return several lines, each made safe to show."""
    return "\n".join(printable(line) for line in text.split("\n"))
