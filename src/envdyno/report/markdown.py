"""A bundle as Markdown: a comment on a pull request, an issue, or ``$GITHUB_STEP_SUMMARY``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdyno.experiment.judging import Judgement
from envdyno.experiment.material import Material
from envdyno.experiment.sweep_judging import SweepAnswer
from envdyno.judge.attribution import Attribution, Clock
from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.verdicts import Verdict
from envdyno.record.counted import agreeing, counted
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.report.experiment_runs import run_doubts, runs_line, uninstrumented
from envdyno.report.facts import fingerprint_rows, package_rows, side_rows
from envdyno.report.failed_runs import failed_run_note
from envdyno.report.html.setting_table import setting_table
from envdyno.report.markdown_text import block, code, folded, sentence, table
from envdyno.report.phase_changes import NOT_TIMED, signed_ms
from envdyno.report.reasons import reason_notes
from envdyno.report.replaying import replay_steps
from envdyno.report.sweep_report import answer_texts, knee_texts, sweep_answer, warning_texts
from envdyno.report.verdict_table import UNKNOWN, rate_text, ratio_text, side_headings, summary_text

LIMIT = 65_000
"""Characters; GitHub refuses a comment of more than 65,536."""
MARKER = "<!-- envdyno -->"
"""By this a script finds the comment of the last run, to replace it."""
CUT = "\n\n*More does not fit here: `envdyno report BUNDLE --html FILE` has everything.*\n"
SYMBOLS = {"PASS": "✅", "FAIL": "❌", "UNDECIDED": "❔", "INCOMPARABLE": "🚫", "NOT_MEASURED": "⬜"}
ORDER = (Verdict.FAIL, Verdict.NOT_MEASURED, Verdict.INCOMPARABLE, Verdict.UNDECIDED, Verdict.PASS)
MAX_CASES = 200
MAX_NOTES = 40
MAX_RUNS = 300


def markdown_text(material: Material, limit: int = LIMIT) -> str:
    """Return the text: verdicts first, details folded. What does not fit is left out whole, and said so.

    Args:
        material: a bundle, or records of no experiment.
        limit: characters of the text.
    """
    text = MARKER
    room = limit - len(CUT)
    for part in _parts(material):
        if len(text) + len(part) + 2 > room:
            return text + CUT
        text += f"\n\n{part}" if text != MARKER else f"\n{part}"
    return f"{text}\n"


def _parts(material: Material) -> Iterator[str]:
    answer = sweep_answer(material)
    if answer is not None:
        yield from _sweep(answer)
    for judgement in material.judgements:
        if material.head is not None:
            yield from _comparison(material.head, judgement, is_gated=material.is_gated)
    if material.head is None:
        yield from _single_runs(material.records)
    else:
        notes = [runs_line(material.records), *run_doubts(material.records)]
        notes += [*uninstrumented(material.head, material.records), *material.head.notices]
        yield _list(notes)
        yield from _software(material.head)
    yield from _runs(material.records)
    facts = fingerprint_rows(material.records)
    if facts:
        rows = [(kind, code(name), code(value)) for kind, name, value in facts]
        yield folded("Machine", "\n".join(table(("class", "fact", "value"), rows)))
    steps = [f"{sentence(step.text)}\n\n{block(step.command)}" for step in replay_steps(material)]
    yield folded("Replay", "\n\n".join(steps))


def _sweep(answer: SweepAnswer) -> Iterator[str]:
    first, *more = answer_texts(answer)
    yield f"### {code(answer.workload)}: {first}"
    yield _list([*more, *knee_texts(answer), *warning_texts(answer)])
    shown = setting_table(answer)
    header = [column.title for column in shown.columns]
    rows = [[cell.text for cell in row] for row in shown.rows[:MAX_CASES]]
    if rows:
        right = [place for place, column in enumerate(shown.columns) if column.is_number]
        yield "\n".join(table(header, rows, right=right))


def _comparison(head: ExperimentRecord, judgement: Judgement, *, is_gated: bool) -> Iterator[str]:
    base_heading, other_heading = (code(one) for one in side_headings(head, judgement.other))
    report = judgement.report
    verdict = f"{SYMBOLS[report.verdict.value]} {report.verdict.value}: " if is_gated else ""
    yield f"### {verdict}{other_heading} over {base_heading}"
    cases = sorted(report.cases, key=lambda case: ORDER.index(case.verdict)) if is_gated else report.cases
    yield "\n".join(_case_table(cases[:MAX_CASES], (head.sides[0].name, judgement.other), is_gated=is_gated))
    if len(cases) > MAX_CASES:
        more = len(cases) - MAX_CASES
        are = agreeing(more, "is", "are")
        yield f"{counted(more, 'more case')} {are} in the bundle; the gravest are above."
    notes = list(reason_notes(head, judgement, judged=is_gated))
    if notes:
        yield _list(notes)
    for found in judgement.attributions:
        if found.clock is Clock.WALL:
            yield _phases(found, (head.sides[0].name, judgement.other))


def _case_table(cases: Sequence[CaseVerdict], sides: tuple[str, str], *, is_gated: bool) -> list[str]:
    header = ["case", "ratio [95 %]", *(f"{code(side)}, transitions/s" for side in sides), "pairs"]
    rows = []
    for case in cases:
        figures = [ratio_text(case), summary_text(case.base), summary_text(case.head)]
        rows.append([code(case.case), *figures, f"{case.base.n} of {case.base.planned}"])
        if is_gated:
            verdict = f"{SYMBOLS[case.verdict.value]} {case.verdict.value}"
            rows[-1][1:2] = [f"{verdict} (gate {case.min_ratio:g})", figures[0]]
    if is_gated:
        header.insert(1, "verdict")
    first = 2 if is_gated else 1
    return table(header, rows, right=range(first, first + 4))


def _phases(found: Attribution, sides: tuple[str, str]) -> str:
    rows = []
    for change in (found.total, *found.phases):
        interval = change.interval
        delta = UNKNOWN if change.delta_ms is None else signed_ms(change.delta_ms)
        spread = "" if interval is None else f" [{signed_ms(interval.low)}, {signed_ms(interval.high)}]"
        times = [NOT_TIMED if ms is None else f"{ms:.3f}" for ms in (change.base_ms, change.head_ms)]
        rows.append((code(change.node.path or "vector step"), *times, delta + spread))
    header = ("ms a vector step", code(sides[0]), code(sides[1]), "change [95 %]")
    body = "\n".join(table(header, rows, right=(1, 2, 3)))
    return folded(f"Phases of {found.case}", body)


def _single_runs(records: Sequence[RunRecord]) -> Iterator[str]:
    names = dict.fromkeys(record.case.workload for record in records)
    yield f"### {', '.join(code(name) for name in list(names)[:5])}"
    throughput = [record for record in records if record.phases is None][:MAX_CASES]
    rows = []
    for record in throughput:
        found = record.throughput
        rate = UNKNOWN if found is None else rate_text(found.transitions_per_s)
        cpu = found.transitions_per_cpu_s if found else None
        rows.append(
            (
                code(record.case.workload),
                f"{record.case.num_envs:,}",
                rate,
                UNKNOWN if cpu is None else rate_text(cpu),
                record.status.value,
            )
        )
    header = ("workload", "envs", "transitions/s", "transitions/CPU-s", "status")
    yield "\n".join(table(header, rows, right=(1, 2, 3)))
    notes = [failed_run_note(one) for one in records if one.failure]
    for record in throughput:
        notes += [f"{warning.message} {warning.remedy}".strip() for warning in record.warnings]
    if notes:
        yield _list(list(dict.fromkeys(notes)))


def _software(head: ExperimentRecord) -> Iterator[str]:
    rows = [tuple(code(one) for one in row) for row in side_rows(head)]
    body = "\n".join(table(("side", "label", "code", "digest"), rows))
    packages = [tuple(code(one) for one in row) for row in package_rows(head)]
    if packages:
        header = ("package", *(code(side.name) for side in head.sides))
        body += "\n\n" + "\n".join(table(header, packages))
    yield folded(
        f"Sides, {counted(len(packages), 'package')} {agreeing(len(packages), 'differs', 'differ')}", body
    )


def _runs(records: Sequence[RunRecord]) -> Iterator[str]:
    rows = []
    for record in records[:MAX_RUNS]:
        entry, found = record.experiment, record.throughput
        if entry is not None:
            mark = "disturbed" if entry.disturbed else ""
            rate = UNKNOWN if found is None else rate_text(found.transitions_per_s)
            place = (code(entry.case), code(entry.side), str(entry.pair), record.case.timing)
            rows.append((record.started_at[11:19], *place, record.status.value, rate, mark))
    if rows:
        header = ("UTC", "case", "side", "pair", "kind", "status", "transitions/s", "")
        more = len(records) - MAX_RUNS
        rest = (
            f"\n\n{counted(more, 'more run')} {agreeing(more, 'is', 'are')} in the bundle."
            if more > 0
            else ""
        )
        yield folded(counted(len(records), "run"), "\n".join(table(header, rows, right=(3, 6))) + rest)


def _list(notes: Sequence[str]) -> str:
    shown = [f"- {sentence(note.removeprefix('! '))}" for note in notes[:MAX_NOTES]]
    left = len(notes) - len(shown)
    return "\n".join([*shown, f"- and {left} more"] if left > 0 else shown)
