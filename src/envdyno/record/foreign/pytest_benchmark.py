"""pytest-benchmark's JSON: rounds of a function within one process.

Rounds of one process are no independent runs, and differences between two processes do not show in them. The
series says so by its unit of repetition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.record.foreign.series import (
    Fact,
    ForeignFormatError,
    ForeignSeries,
    facts,
    rates_from_seconds,
    text_at,
    unix_time,
)

__all__ = ["parse_pytest_benchmark"]

_MACHINE = {
    "hostname": "node",
    "architecture": "machine",
    "system": "system",
    "python_implementation": "python_implementation",
    "python_version": "python_version",
}
_CPU = {"cpu_model": "brand_raw", "cpu_count": "count"}
_COMMIT = {name: name for name in ("id", "branch", "dirty", "time")}


def parse_pytest_benchmark(document: Any) -> tuple[ForeignSeries, ...]:
    """Read a parsed document; one series a test, one rate a round.

    Raises:
        ForeignFormatError: it is no pytest-benchmark file.
    """
    benchmarks = document.get("benchmarks") if isinstance(document, Mapping) else None
    if not isinstance(benchmarks, list) or "machine_info" not in document:
        raise ForeignFormatError(
            "A pytest-benchmark file has a list 'benchmarks' and 'machine_info'; this document has not."
        )
    identity = _identity(document["machine_info"])
    context = facts(document.get("commit_info"), _COMMIT)
    measured = unix_time(document.get("datetime"))
    return tuple(
        _series(benchmark, index, identity, context, measured) for index, benchmark in enumerate(benchmarks)
    )


def _series(
    benchmark: Any,
    index: int,
    identity: Mapping[str, Fact],
    context: Mapping[str, Fact],
    measured: float | None,
) -> ForeignSeries:
    where = f"Benchmark {index + 1} of the pytest-benchmark file"
    name = text_at(benchmark, "fullname", where)
    stats = benchmark.get("stats")
    data = stats.get("data") if isinstance(stats, Mapping) else None
    why = None
    if not isinstance(data, list) or not data:
        data = []
        why = "The file has a summary only; save it with --benchmark-save-data or --benchmark-json."
    return ForeignSeries(
        tool="pytest-benchmark",
        name=name,
        rates_per_s=rates_from_seconds(data, where),
        unit_of_repetition="round of one process",
        why_empty=why,
        identity=identity,
        context=context,
        measured_at_s=measured,
    )


def _identity(machine: Any) -> dict[str, Fact]:
    if not isinstance(machine, Mapping):
        return {}
    return {**facts(machine, _MACHINE), **facts(machine.get("cpu"), _CPU)}
