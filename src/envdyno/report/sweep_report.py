"""The answer of a sweep in the terminal: the best setting, those as good, the cheapest; every setting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from envdyno.experiment.material import Material
from envdyno.experiment.sweep_judging import SettingFigures, SweepAnswer, answer_of
from envdyno.judge.best_settings import SettingResult, Standing
from envdyno.judge.knee import NEAR_BEST, knee_of
from envdyno.judge.sweep_evidence import ENOUGH
from envdyno.record.counted import agreeing, counted
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting
from envdyno.report.columns import aligned
from envdyno.report.experiment_runs import run_doubts, runs_line
from envdyno.report.sentences import finished, wrapped
from envdyno.report.verdict_table import UNKNOWN, rate_text

MARKS = {
    Standing.BEST: ">",
    Standing.EQUAL: "=",
    Standing.SLOWER: "",
    Standing.UNDECIDED: "?",
    Standing.NOT_MEASURED: "-",
}
LEGEND = {
    ">": "best",
    "=": "as good, as far as these runs can tell",
    "?": "too few runs to tell",
    "-": "not measured",
}
HIGHEST = "highest so far"
"""What the best setting is called where nothing is decided."""
HEADER = ("", "envs", "WxT", "transitions/s", "of best [95 %]", "step p50", "RSS", "per CPU-s", "n of N")
RIGHT = (1, 2, 3, 5, 6, 7, 8)
LEAST_WANTED = (7, 6)
"""Columns that a narrow screen goes without, the first one first."""


def sweep_answer_lines(
    head: ExperimentRecord, answer: SweepAnswer, records: Sequence[RunRecord], width: int = 80
) -> list[str]:
    """Return the answer.

    Args:
        head: the head of the bundle.
        answer: the judge's word.
        records: all records of the bundle.
        width: of the screen, in characters.
    """
    lines = [answer.workload, ""]
    lines += [part for text in answer_texts(answer) for part in wrapped(text, width)]
    if answer.planned:
        lines += ["", *_table(answer, width), *_legend(answer, width)]
    notes = [*knee_texts(answer), runs_line(records), *_warnings(head, answer, records)]
    return [*lines, "", *(part for note in notes for part in wrapped(note, width))]


def sweep_answer(material: Material) -> SweepAnswer | None:
    """Return the answer of a sweep's bundle; ``None`` for any other.

    Raises:
        BundleError: what the bundle holds is no plan.
    """
    head = material.head
    if head is None or not head.plan.get("sweep"):
        return None
    return answer_of(head, material.records)


def setting_text(setting: Setting) -> str:
    """Return a setting in words."""
    return (
        f"{counted(setting.num_envs, 'env')}, "
        f"{counted(setting.workers_per_node, 'worker')} a node, "
        f"{counted(setting.threads, 'thread')}"
    )


def answer_texts(answer: SweepAnswer) -> Iterator[str]:
    """Yield the answer as sentences."""
    result = answer.result
    best = result.best
    if best is None or best.median_per_s is None:
        yield "No setting was measured, so nothing can be said of the best one."
        return
    found = f"{setting_text(best.setting)}: {rate_text(best.median_per_s)} transitions/s"
    if not result.is_decided:
        yield f"undecided. Highest so far: {found}"
        yield (
            f"{_times(best.n)} of a setting cannot tell a difference from noise, so nothing is called the "
            f"best. {_what_would_decide(result.blocks)}"
        )
        return
    yield f"best here: {found}"
    equal = result.named(Standing.EQUAL)
    if equal:
        others = counted(len(equal), "other setting")
        yield f"as good, as far as these runs can tell: {others}"
    elif len(result.settings) > 1:
        yield "no other setting that was measured often enough can be as good"
    cheapest = result.cheapest
    if cheapest is not None and cheapest.standing is not Standing.BEST and cheapest.median_per_s is not None:
        yield (
            f"cheapest of these within {100 * (1 - NEAR_BEST):.0f} %: {setting_text(cheapest.setting)}: "
            f"{rate_text(cheapest.median_per_s)} transitions/s, {ratio_text(cheapest)} of the best"
        )
    elif equal and cheapest is not None:
        share = f"{100 * (1 - NEAR_BEST):.0f} %"
        yield f"none of these within {share} takes fewer threads, or as many and a smaller batch"
    if result.resolution is not None:
        yield f"smallest loss that these runs show: about {100 * result.resolution:.1f} %"


def ratio_text(one: SettingResult) -> str:
    """Return the ratio to the best with its bounds."""
    if one.log_ratio is None or one.standing is Standing.BEST:
        return "" if one.log_ratio is None else "1.000"
    ratio = math.exp(one.log_ratio)
    if one.half_width is None:
        return f"{ratio:.3f}"
    low, high = math.exp(one.log_ratio - one.half_width), math.exp(one.log_ratio + one.half_width)
    return f"{ratio:.3f} [{low:.3f}, {high:.3f}]"


def knee_texts(answer: SweepAnswer) -> Iterator[str]:
    """Yield where scouting went, and the knees of the curves over batch sizes, those alike together."""
    if answer.scouted:
        least, most = min(answer.scouted), max(answer.scouted)
        knee = counted(knee_of(answer.scouted), "env")
        yield f"scouting: {least:,} to {counted(most, 'env')}, once each; knee at {knee}"
    by_size: dict[int, list[str]] = {}
    for (workers, threads), size in answer.knees.items():
        by_size.setdefault(size, []).append(f"{workers}x{threads}")
    parts = [f"{size:,} envs with {', '.join(names)}" for size, names in sorted(by_size.items())]
    if parts:
        share = f"{100 * NEAR_BEST:.0f} %"
        yield f"knee (smallest batch with {share} of its curve's best): {'; '.join(parts)}"


def _what_would_decide(blocks: int) -> str:
    if blocks < ENOUGH:
        return f"Take --repeats {ENOUGH} or more."
    return "Make the runs that are missing: --resume carries a sweep on."


def _times(runs: int) -> str:
    return {1: "One run", 2: "Two runs"}.get(runs, counted(runs, "run"))


def _table(answer: SweepAnswer, width: int) -> list[str]:
    blocks = answer.result.blocks
    rows: list[tuple[str, ...]] = [HEADER]
    order = sorted(answer.result.settings, key=lambda one: (one.setting[1:], one.setting[0]))
    rows += [_row(one, answer.figures[one.setting], blocks) for one in order]
    dropped: set[int] = set()
    for column in (None, *LEAST_WANTED):
        dropped |= set() if column is None else {column}
        kept = [place for place in range(len(HEADER)) if place not in dropped]
        shown = [tuple(row[place] for place in kept) for row in rows]
        lines = aligned(shown, right=[at for at, place in enumerate(kept) if place in RIGHT])
        if max(map(len, lines)) <= width:
            break
    return lines


def _row(one: SettingResult, figures: SettingFigures, blocks: int) -> tuple[str, ...]:
    setting = one.setting
    return (
        MARKS[one.standing],
        f"{setting.num_envs:,}",
        f"{setting.workers_per_node}x{setting.threads}",
        UNKNOWN if one.median_per_s is None else rate_text(one.median_per_s),
        ratio_text(one),
        UNKNOWN if figures.step_p50_ms is None else f"{figures.step_p50_ms:.4g} ms",
        UNKNOWN if figures.rss_bytes is None else size_text(figures.rss_bytes),
        UNKNOWN if figures.transitions_per_cpu_s is None else rate_text(figures.transitions_per_cpu_s),
        f"{one.n} of {blocks}",
    )


def size_text(size_bytes: int) -> str:
    """Return memory in the unit that fits."""
    if size_bytes >= 2**30:
        return f"{size_bytes / 2**30:.1f} GiB"
    return f"{size_bytes / 2**20:.0f} MiB"


def _legend(answer: SweepAnswer, width: int) -> list[str]:
    used = {MARKS[one.standing] for one in answer.result.settings}
    legend = LEGEND if answer.result.is_decided else {**LEGEND, MARKS[Standing.BEST]: HIGHEST}
    marks = [f"{mark} {text}" for mark, text in legend.items() if mark in used]
    return wrapped(
        "; ".join(["WxT: workers a node x threads of each; of best: paired by block", *marks]), width
    )


def _warnings(head: ExperimentRecord, answer: SweepAnswer, records: Sequence[RunRecord]) -> Iterator[str]:
    yield from warning_texts(answer)
    yield from run_doubts([one for one in records if one.experiment and Setting.of_case(one.experiment.case)])
    yield from (f"! {notice}" for notice in head.notices)


def warning_texts(answer: SweepAnswer) -> Iterator[str]:
    """Yield what limits the answer: settings that cannot be or gave no figure, and disturbed runs."""
    for reason, count in answer.impossible.items():
        yield f"! {counted(count, 'setting')} of the grid cannot be. {finished(reason)}"
    used = answer.result.used
    if used.disturbed:
        were = agreeing(used.disturbed, "was", "were")
        yield (
            f"! {used.disturbed} of the runs that count {were} disturbed by "
            "foreign load, for there are too few others. Wait for a quiet machine, or use --wait-idle."
        )
    if used.canary_moved:
        yield (
            f"! Beside {used.canary_moved} of the runs that count the canary differed from that of their "
            "block: the machine had changed, and there are too few other runs."
        )
    if used.set_aside:
        are = agreeing(used.set_aside, "is", "are")
        aside = counted(used.set_aside, "run")
        yield f"{aside} {are} set aside for what happened to the machine; others are enough."
    missing: dict[str, list[Setting]] = {}
    for one in answer.result.named(Standing.NOT_MEASURED):
        why = answer.figures[one.setting].failure or "It was not run yet."
        missing.setdefault(why, []).append(one.setting)
    for why, settings in missing.items():
        more = f" and {len(settings) - 1} more" if len(settings) > 1 else ""
        yield f"! {setting_text(settings[0])}{more}: not measured. {finished(why)}"
