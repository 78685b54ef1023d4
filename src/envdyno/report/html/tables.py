"""Tables of the page: cells of text, with the number behind it for sorting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from envdyno.judge.attribution import Attribution
from envdyno.judge.case_verdict import CaseVerdict
from envdyno.record.counted import agreeing, counted
from envdyno.record.printable import printable
from envdyno.record.run_record import RunRecord
from envdyno.report.phase_changes import NOT_TIMED, signed_ms
from envdyno.report.verdict_table import UNKNOWN, rate_text, ratio_text, summary_text

SYMBOLS = {"PASS": "✓", "FAIL": "✗", "UNDECIDED": "?", "INCOMPARABLE": "≠", "NOT_MEASURED": "∅"}
MAX_ROWS = 1000
"""Of the table of runs: so many rows keep the page small."""


class Column(NamedTuple):
    """A heading."""

    title: str
    is_number: bool = False


class Cell(NamedTuple):
    """What is shown, and what is sorted by."""

    text: str
    value: float | str | None = None
    kind: str = ""


class Table(NamedTuple):
    """A table that sorts by any column."""

    id: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def text(value: object) -> Cell:
    """Return a cell of text."""
    return Cell(printable(str(value)).replace("\t", " "))


def number(shown: str, value: float | None) -> Cell:
    """Return a cell that sorts by its number; what is not known sorts last."""
    return Cell(shown, value, "number") if value is not None else Cell(shown, None, "number")


def case_table(cases: Sequence[CaseVerdict], sides: tuple[str, str], *, judged: bool) -> Table:
    """Return verdict, ratio and both sides of every case."""
    columns = [
        Column("case"),
        *([Column("verdict")] if judged else []),
        Column("ratio [95 %]", is_number=True),
        *([Column("gate", is_number=True)] if judged else []),
        Column(f"{printable(sides[0])}, transitions/s", is_number=True),
        Column(f"{printable(sides[1])}, transitions/s", is_number=True),
        Column("visible change", is_number=True),
        Column("pairs", is_number=True),
    ]
    return Table("cases", tuple(columns), tuple(_case_row(case, judged=judged) for case in cases))


def _case_row(case: CaseVerdict, *, judged: bool) -> tuple[Cell, ...]:
    name = case.verdict.value
    estimate = case.estimate
    visible = estimate.smallest_change if estimate else None
    verdict = [Cell(f"{SYMBOLS[name]} {name}", name, f"verdict {name}")] if judged else []
    gate = [number(f"{case.min_ratio:g}", case.min_ratio)] if judged else []
    return (
        text(case.case),
        *verdict,
        number(ratio_text(case), estimate.ratio if estimate else None),
        *gate,
        number(summary_text(case.base), case.base.median),
        number(summary_text(case.head), case.head.median),
        number(UNKNOWN if visible is None else f"{100 * visible:.1f} %", visible),
        number(f"{case.base.n} of {case.base.planned}", case.base.n),
    )


def phase_table(found: Attribution, sides: tuple[str, str], name: str) -> Table:
    """Return the phases of both sides in ms of a vector step."""
    columns = (
        Column("phase"),
        Column(printable(sides[0]), is_number=True),
        Column(printable(sides[1]), is_number=True),
        Column("change, ms [95 %]", is_number=True),
    )
    rows = []
    for change in (found.total, *found.phases):
        interval = change.interval
        delta = UNKNOWN if change.delta_ms is None else signed_ms(change.delta_ms)
        if interval is not None:
            delta += f" [{signed_ms(interval.low)}, {signed_ms(interval.high)}]"
        cells = [
            number(NOT_TIMED if ms is None else f"{ms:.3f}", ms) for ms in (change.base_ms, change.head_ms)
        ]
        path = change.node.path or "vector step"
        rows.append((text(path), *cells, number(delta, change.delta_ms)))
    return Table(name, columns, tuple(rows))


RUN_COLUMNS = (
    Column("started"),
    Column("case"),
    Column("side"),
    Column("pair", is_number=True),
    Column("kind"),
    Column("status"),
    Column("transitions/s", is_number=True),
    Column("transitions/CPU-s", is_number=True),
    Column("foreign load, cores", is_number=True),
    Column("doubts"),
)
PLACE_COLUMNS = frozenset({"side", "pair"})
"""Only runs of an experiment have these."""


def run_table(records: Sequence[RunRecord]) -> Table:
    """Return every run, up to a number of rows."""
    of_experiment = any(record.experiment for record in records)
    columns = tuple(one for one in RUN_COLUMNS if of_experiment or one.title not in PLACE_COLUMNS)
    rows = tuple(
        (*_place(record, of_experiment=of_experiment), *_figures(record)) for record in records[:MAX_ROWS]
    )
    left = len(records) - len(rows)
    are = agreeing(left, "is", "are")
    note = (
        f"{counted(left, 'more run')} {are} in the bundle: envdyno export BUNDLE -f csv." if left > 0 else ""
    )
    return Table("runs", columns, rows, note)


def _place(record: RunRecord, *, of_experiment: bool) -> tuple[Cell, ...]:
    entry = record.experiment
    started = text(record.started_at[:19].replace("T", " "))._replace(kind="date")
    case = entry.case if entry else f"{record.case.workload} num_envs={record.case.num_envs}"
    if not of_experiment:
        return started, text(case)
    pair = f"{entry.pair}{'ab'[min(1, entry.position)]}" if entry else ""
    side = text(entry.side if entry else "")
    return started, text(case), side, number(pair, entry.pair if entry else None)


def _figures(record: RunRecord) -> tuple[Cell, ...]:
    entry, found = record.experiment, record.throughput
    rate = found.transitions_per_s if found else None
    cpu = found.transitions_per_cpu_s if found else None
    load = record.machine.foreign_cores_chosen if record.machine else None
    doubts = " ".join(warning.code.value for warning in record.warnings)
    return (
        text(record.case.timing)._replace(kind="short"),
        text(record.status.value)._replace(kind="short"),
        number(UNKNOWN if rate is None else rate_text(rate), rate),
        number(UNKNOWN if cpu is None else rate_text(cpu), cpu),
        number(UNKNOWN if load is None else f"{load:.2f}", load),
        text(f"disturbed {doubts}" if entry and entry.disturbed else doubts),
    )


def fact_table(name: str, facts: Sequence[tuple[str, ...]], headings: Sequence[str]) -> Table:
    """Return a table of plain facts."""
    return Table(
        name,
        tuple(Column(printable(title)) for title in headings),
        tuple(tuple(text(value) for value in row) for row in facts),
    )
