"""The table of a sweep's settings on a page."""

from __future__ import annotations

import math

from envdyno.experiment.sweep_judging import SweepAnswer
from envdyno.judge.best_settings import SettingResult, Standing
from envdyno.report.html.tables import Cell, Column, Table, number, text
from envdyno.report.sweep_report import HIGHEST, ratio_text, size_text
from envdyno.report.verdict_table import UNKNOWN, rate_text

WORDS = {
    Standing.BEST: "best",
    Standing.EQUAL: "as good",
    Standing.SLOWER: "slower",
    Standing.UNDECIDED: "too few runs",
    Standing.NOT_MEASURED: "not measured",
}
COLUMNS = (
    Column("envs", is_number=True),
    Column("workers a node", is_number=True),
    Column("threads of each", is_number=True),
    Column("transitions/s", is_number=True),
    Column("of best [95 %]", is_number=True),
    Column(""),
    Column("step p50", is_number=True),
    Column("RSS", is_number=True),
    Column("transitions/CPU-s", is_number=True),
    Column("n of N", is_number=True),
)


def setting_table(answer: SweepAnswer) -> Table:
    """Return every setting, a row each."""
    return Table("settings", COLUMNS, tuple(_row(answer, one) for one in answer.result.settings))


def _row(answer: SweepAnswer, one: SettingResult) -> tuple[Cell, ...]:
    figures, setting = answer.figures[one.setting], one.setting
    step, rss, cpu = figures.step_p50_ms, figures.rss_bytes, figures.transitions_per_cpu_s
    rate = one.median_per_s
    is_highest = one.standing is Standing.BEST and not answer.result.is_decided
    word = HIGHEST if is_highest else WORDS[one.standing]
    return (
        number(f"{setting.num_envs:,}", setting.num_envs),
        number(str(setting.workers_per_node), setting.workers_per_node),
        number(str(setting.threads), setting.threads),
        number(UNKNOWN if rate is None else rate_text(rate), rate),
        number(ratio_text(one), None if one.log_ratio is None else math.exp(one.log_ratio)),
        text(word),
        number(UNKNOWN if step is None else f"{step:.4g} ms", step),
        number(UNKNOWN if rss is None else size_text(rss), rss),
        number(UNKNOWN if cpu is None else rate_text(cpu), cpu),
        number(f"{one.n} of {answer.result.blocks}", one.n),
    )
