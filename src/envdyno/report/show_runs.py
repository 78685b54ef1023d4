"""Runs of no experiment in the terminal: one in full, several as a table."""

from __future__ import annotations

from collections.abc import Sequence

from envdyno.record.run_record import RunRecord
from envdyno.report.comparison_report import batch_lines, suite_lines
from envdyno.report.experiment_runs import run_doubts
from envdyno.report.failed_runs import failed_run_note
from envdyno.report.phase_report import bar, phase_lines
from envdyno.report.run_report import failure_lines, heading, headline_lines, warning_lines
from envdyno.report.sentences import wrapped
from envdyno.report.worker_shares import worker_lines

IN_FULL = 2
"""So many runs are shown in full, as a run and its attribution run are; more become a table."""


def show_runs(records: Sequence[RunRecord], width: int = 80) -> list[str]:
    """Return the runs, warnings last."""
    if len(records) <= IN_FULL:
        return [line for record in records for line in [*_in_full(record, width), ""]][:-1]
    throughput = [record for record in records if record.phases is None]
    several = len({record.case.workload for record in throughput}) > 1
    lines = suite_lines(throughput, {}) if several else _batches(throughput)
    first = throughput[0].case.workload if throughput else ""
    lines = lines if several else [first, *lines]
    for record in records:
        if record.phases is not None:
            lines += ["", f"{record.case.workload}, {record.case.num_envs:,} envs", *phase_lines(record)]
    measured = [one for one in throughput if one.throughput and len(one.workers) > 1]
    if measured:
        best = max(measured, key=_rate)
        what = f"{best.case.workload}, {best.case.num_envs:,} envs: shares of the workers"
        lines += ["", *wrapped(what, width), *worker_lines([best], width)]
    notes = [f"! {failed_run_note(record)}" for record in throughput if record.throughput is None]
    notes += run_doubts(throughput)
    shown = [line for note in notes for line in wrapped(note, width)]
    return [*lines, "", *shown] if shown else lines


def _batches(records: Sequence[RunRecord]) -> list[str]:
    rates = [_rate(record) for record in records]
    best = max(rates, default=0.0)
    header, *rows = batch_lines(records)
    bars = [bar(rate / best) if best else "" for rate in rates]
    longest = max(map(len, [header, *rows]))
    return [
        header,
        *(f"{row.ljust(longest)}  {one}".rstrip() for row, one in zip(rows, bars, strict=True)),
    ]


def _rate(record: RunRecord) -> float:
    return record.throughput.transitions_per_s if record.throughput else 0.0


def _in_full(record: RunRecord, width: int) -> list[str]:
    lines = [*wrapped(heading(record), width), ""]
    if record.phases is not None:
        lines += phase_lines(record)
    elif record.throughput is not None and record.totals is not None:
        for line in headline_lines(record, record.throughput, record.totals):
            lines += [f"  {part}" for part in wrapped(line, width - 2)]
        lines += ["", *worker_lines([record], width)]
    else:
        lines += [f"  {line}" for line in failure_lines(record)]
    warnings = [part for line in warning_lines(record) for part in wrapped(line.strip(), width)]
    return [*lines, "", *warnings] if warnings else lines
