"""Which tool wrote a document?"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from envdyno.record.foreign.google_benchmark import parse_google_benchmark
from envdyno.record.foreign.hyperfine import parse_hyperfine
from envdyno.record.foreign.pyperf import parse_pyperf
from envdyno.record.foreign.pytest_benchmark import parse_pytest_benchmark
from envdyno.record.foreign.series import ForeignFormatError, ForeignSeries

__all__ = ["ForeignFormat", "parse_foreign", "recognise"]


class ForeignFormat(str, Enum):
    """The formats that can be read."""

    HYPERFINE = "hyperfine"
    PYPERF = "pyperf"
    PYTEST_BENCHMARK = "pytest-benchmark"
    GOOGLE_BENCHMARK = "google-benchmark"


_PARSERS = {
    ForeignFormat.HYPERFINE: parse_hyperfine,
    ForeignFormat.PYPERF: parse_pyperf,
    ForeignFormat.PYTEST_BENCHMARK: parse_pytest_benchmark,
    ForeignFormat.GOOGLE_BENCHMARK: parse_google_benchmark,
}


def recognise(document: Any) -> ForeignFormat | None:
    """The format of a parsed document by its outermost keys, or ``None``."""
    if not isinstance(document, Mapping):
        return None
    keys = set(document)
    if {"benchmarks", "machine_info"} <= keys:
        return ForeignFormat.PYTEST_BENCHMARK
    if {"benchmarks", "context"} <= keys:
        return ForeignFormat.GOOGLE_BENCHMARK
    if {"benchmarks", "version"} <= keys:
        return ForeignFormat.PYPERF
    return ForeignFormat.HYPERFINE if "results" in keys else None


def parse_foreign(document: Any, name: str = "the document") -> tuple[ForeignSeries, ...]:
    """Read a parsed document of any of the formats.

    Args:
        document: what a JSON parser made of the file.
        name: how to call it in an error.

    Raises:
        ForeignFormatError: it is of none of them, or malformed.
    """
    found = recognise(document)
    if found is None:
        known = ", ".join(form.value for form in ForeignFormat)
        raise ForeignFormatError(f"{name} is of no format that can be read: {known}.")
    return _PARSERS[found](document)
