"""hyperfine's ``--export-json``: wall times of whole processes.

The file says nothing about the machine, so that nothing keeps figures of different machines apart but the
user.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.record.counted import agreeing
from envdyno.record.foreign.series import ForeignFormatError, ForeignSeries, rates_from_seconds, text_at

__all__ = ["parse_hyperfine"]


def parse_hyperfine(document: Any) -> tuple[ForeignSeries, ...]:
    """Read a parsed document; one series a command, one rate a run that ended with exit code 0.

    Raises:
        ForeignFormatError: it is no hyperfine export.
    """
    results = document.get("results") if isinstance(document, Mapping) else None
    if not isinstance(results, list):
        raise ForeignFormatError("A hyperfine export has a list 'results', and this document has none.")
    return tuple(_series(result, index) for index, result in enumerate(results))


def _series(result: Any, index: int) -> ForeignSeries:
    where = f"Result {index + 1} of the hyperfine export"
    command = text_at(result, "command", where)
    times = result.get("times")
    if not isinstance(times, list) or not times:
        why = "The export has no 'times' of single runs; --export-json of hyperfine 1.5 or newer keeps them."
        return _named(command, result, (), why_empty=why)
    codes = result.get("exit_codes")
    if codes is None:
        codes = [0] * len(times)
    if not isinstance(codes, list) or len(codes) != len(times):
        raise ForeignFormatError(f"{where} has {len(times)} times and other than as many exit codes.")
    good = [time for time, code in zip(times, codes, strict=True) if code == 0]
    failed = len(times) - len(good)
    all_of = agreeing(failed, "The only run", f"All {failed} runs")
    why_empty = None if good else f"{all_of} of the command failed."
    rates = rates_from_seconds(good, where)
    return _named(command, result, rates, failed=failed, why_empty=why_empty)


def _named(
    command: str,
    result: Mapping[str, Any],
    rates: tuple[float, ...],
    *,
    failed: int = 0,
    why_empty: str | None,
) -> ForeignSeries:
    parameters = result.get("parameters")
    context = {str(k): str(v) for k, v in parameters.items()} if isinstance(parameters, Mapping) else {}
    return ForeignSeries(
        tool="hyperfine",
        name=command,
        rates_per_s=rates,
        unit_of_repetition="process",
        failed=failed,
        why_empty=why_empty,
        context=context,
    )
