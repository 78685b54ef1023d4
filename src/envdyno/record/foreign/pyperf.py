"""pyperf's JSON: several processes, each with several values.

Values of one process share its memory layout and hash seed, and are no independent figures. So each process
gives one: the mean of its values, as a rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from envdyno.record.foreign.series import ForeignFormatError, ForeignSeries, facts, rates_from_seconds

__all__ = ["parse_pyperf"]

_IDENTITY = {
    "cpu_model": "cpu_model_name",
    "cpu_count": "cpu_count",
    "hostname": "hostname",
    "python_implementation": "python_implementation",
    "python_version": "python_version",
}
_CONTEXT = ("aslr", "cpu_affinity", "cpu_config", "cpu_freq", "perf_version", "platform", "unit")


def parse_pyperf(document: Any) -> tuple[ForeignSeries, ...]:
    """Read a parsed document; one series a benchmark, one rate a process.

    Raises:
        ForeignFormatError: it is no pyperf file of version 1.0.
    """
    benchmarks = document.get("benchmarks") if isinstance(document, Mapping) else None
    if not isinstance(benchmarks, list):
        raise ForeignFormatError("A pyperf file has a list 'benchmarks', and this document has none.")
    if document.get("version") != "1.0":
        raise ForeignFormatError(f"pyperf files of version 1.0 are read, not {document.get('version')!r}.")
    common = document.get("metadata")
    return tuple(_series(benchmark, common, index) for index, benchmark in enumerate(benchmarks))


def _series(benchmark: Any, common: Any, index: int) -> ForeignSeries:
    where = f"Benchmark {index + 1} of the pyperf file"
    runs = benchmark.get("runs") if isinstance(benchmark, Mapping) else None
    if not isinstance(runs, list):
        raise ForeignFormatError(f"{where} has no list 'runs'.")
    known = {name: name for name in (*_IDENTITY.values(), *_CONTEXT, "name")}
    metadata = {**facts(common, known), **facts(benchmark.get("metadata"), known)}
    unit = metadata.get("unit", "second")
    means = [_mean(run["values"], where) for run in runs if isinstance(run, Mapping) and run.get("values")]
    why_empty = None if means else "The file holds calibration runs only, and no values."
    if unit != "second":
        means, why_empty = [], f"The benchmark counts in {unit}s, which is no speed."
    return ForeignSeries(
        tool="pyperf",
        name=str(metadata.get("name", f"benchmark {index + 1}")),
        rates_per_s=rates_from_seconds(means, where),
        unit_of_repetition="process",
        why_empty=why_empty,
        identity=facts(metadata, _IDENTITY),
        context=facts(metadata, {name: name for name in _CONTEXT}),
    )


def _mean(values: Any, where: str) -> float:
    rates_from_seconds(values, where)
    return fmean(values)
