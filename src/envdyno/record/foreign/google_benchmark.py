"""Google Benchmark's JSON: repetitions of a function within one process.

``real_time`` is read, and not ``items_per_second``, which may count CPU time. Aggregates are not read: they
are the tool's summary of the very repetitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.record.foreign.series import (
    ForeignFormatError,
    ForeignSeries,
    facts,
    rates_from_seconds,
    text_at,
    unix_time,
)

__all__ = ["parse_google_benchmark"]

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_IDENTITY = {"hostname": "host_name", "cpu_count": "num_cpus", "build": "library_build_type"}
_CONTEXT = ("cpu_scaling_enabled", "mhz_per_cpu", "executable")


def parse_google_benchmark(document: Any) -> tuple[ForeignSeries, ...]:
    """Read a parsed document; one series a benchmark, one rate a repetition, in the order of the file.

    Raises:
        ForeignFormatError: it is no Google Benchmark file.
    """
    entries = document.get("benchmarks") if isinstance(document, Mapping) else None
    if not isinstance(entries, list) or not isinstance(document.get("context"), Mapping):
        raise ForeignFormatError(
            "A Google Benchmark file has 'context' and a list 'benchmarks'; this document has not."
        )
    context = document["context"]
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for index, entry in enumerate(entries):
        where = f"Entry {index + 1} of the Google Benchmark file"
        name = entry.get("run_name") if isinstance(entry, Mapping) else None
        by_name.setdefault(name if isinstance(name, str) else text_at(entry, "name", where), []).append(entry)
    return tuple(_series(name, group, context) for name, group in by_name.items())


def _series(name: str, entries: list[Mapping[str, Any]], context: Mapping[str, Any]) -> ForeignSeries:
    runs = [entry for entry in entries if entry.get("run_type", "iteration") == "iteration"]
    failed = [run for run in runs if run.get("error_occurred") or run.get("skipped")]
    good = [run for run in runs if run not in failed]
    seconds = [_seconds(run, name) for run in good]
    return ForeignSeries(
        tool="google-benchmark",
        name=name,
        rates_per_s=rates_from_seconds(seconds, name),
        unit_of_repetition="repetition in one process",
        failed=len(failed),
        why_empty=None if good else _why_empty(failed),
        identity=facts(context, _IDENTITY),
        context=facts(context, {name: name for name in _CONTEXT}),
        measured_at_s=unix_time(context.get("date")),
    )


def _seconds(run: Mapping[str, Any], name: str) -> float:
    time, unit = run.get("real_time"), run.get("time_unit")
    if isinstance(time, bool) or not isinstance(time, (int, float)) or not isinstance(unit, str):
        raise ForeignFormatError(f"{name} has no number 'real_time' with a 'time_unit'.")
    if unit not in _SECONDS:
        raise ForeignFormatError(f"{name} is timed in {unit!r}, and not in ns, us, ms or s.")
    return float(time) * _SECONDS[unit]


def _why_empty(failed: list[Mapping[str, Any]]) -> str:
    if not failed:
        return "The file has aggregates only; leave out --benchmark_report_aggregates_only."
    reason = failed[0].get("error_message") or failed[0].get("skip_message") or "no reason given"
    return f"All {len(failed)} repetitions failed: {reason}."
