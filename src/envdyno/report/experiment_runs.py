"""What the runs of an experiment say beside their figures: how they ended, and what is doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from envdyno.agent.measure.quantile import median
from envdyno.judge.from_records import phase_times
from envdyno.record.counted import agreeing, counted
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Doubt, Status, Warning_
from envdyno.report.phase_changes import PhaseCalls

TOLD_ELSEWHERE = frozenset({Doubt.FOREIGN_LOAD, Doubt.NO_RESETS, Doubt.TREND, Doubt.RAW_THINNED})
"""The judge has alarms for these, over all runs of a case; thinned raw samples change no figure."""


def runs_line(records: Sequence[RunRecord]) -> str:
    """Return how many runs were made, and how they ended."""
    made = [record for record in records if record.status is not Status.SKIPPED]
    counts = Counter(record.status for record in records)
    entries = [record.experiment for record in made if record.experiment is not None]
    disturbed = sum(entry.disturbed for entry in entries)
    again = sum(entry.attempt > 0 for entry in entries)
    parts = [f"{len(made)} made"]
    parts += [f"{again} of them {agreeing(again, 'a repeat', 'repeats')}"] if again else []
    parts += [f"{disturbed} disturbed by foreign load"] if disturbed else []
    parts += [
        f"{counts[status]} {status.value}" for status in Status if counts[status] and status is not Status.OK
    ]
    return f"runs: {', '.join(parts)}"


def run_doubts(records: Sequence[RunRecord]) -> Iterator[str]:
    """Yield what makes the figures of single runs doubtful, each kind once with the number of its runs."""
    measured = [record for record in records if record.status is Status.OK]
    found: dict[Doubt, list[Warning_]] = {}
    for record in measured:
        for code in dict.fromkeys(warning.code for warning in record.warnings):
            first = next(warning for warning in record.warnings if warning.code is code)
            found.setdefault(code, []).append(first)
    for code, warnings in found.items():
        if code not in TOLD_ELSEWHERE:
            first = warnings[0]
            example = "" if len({warning.message for warning in warnings}) == 1 else " Such as:"
            text = f"{first.message} {first.remedy}".rstrip()
            yield f"! {len(warnings)} of {counted(len(measured), 'run')}:{example} {text} ({code.value})"


def phase_calls(records: Sequence[RunRecord], case: str, sides: tuple[str, str]) -> PhaseCalls:
    """Return by path how often a phase of a case was entered in a vector step, on either side."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for record in records:
        entry = record.experiment
        if entry is None or entry.case != case or entry.side not in sides:
            continue
        for path, calls in (phase_times(record, "calls_per_step") or {}).items():
            found.setdefault(path, ([], []))[sides.index(entry.side)].append(calls)
    return {
        path: (median(base) if base else None, median(head) if head else None)
        for path, (base, head) in found.items()
    }


def uninstrumented(head: ExperimentRecord, records: Sequence[RunRecord]) -> Iterator[str]:
    """Yield one line for the cases in whose attribution runs nothing was named as a phase."""
    told = {
        record.experiment.case: bool(record.phases["phases"])
        for record in records
        if record.experiment is not None and record.phases is not None
    }
    silent = [case for case in head.cases if told.get(case) is False]
    if silent:
        yield (
            f"! No phase is named in {', '.join(silent)}, so the change cannot be attributed. Name phases "
            "with envdyno.phase, or time callables with --probe. Without, --attribution-pairs 0 saves runs."
        )
