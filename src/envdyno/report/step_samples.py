"""Step times from the raw samples of a bundle, read as data: plain arrays of integers, nothing unpickled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envdyno.record.bundle import Bundle, BundleError
from envdyno.record.case import Mode
from envdyno.record.run_record import RunRecord

SHARES = tuple(round(float(share), 4) for share in (*np.linspace(0.0, 0.98, 99), 0.985, 0.99, 0.995, 0.999))
MAX_FILES = 24
"""Read for one side of a case; of more, the first ones."""
NS_PER_MS = 1e6


class Quantiles(NamedTuple):
    """Times by the share of steps that took no longer, in ms."""

    points: tuple[tuple[float, float], ...]
    steps: int


def step_quantiles(bundle: Bundle, records: Iterable[RunRecord]) -> Quantiles | None:
    """Return the quantiles of all steps of some runs together; ``None`` where there are no samples.

    A file that is missing, is no array of integers or lies outside the bundle is passed over.
    """
    parts: list[npt.NDArray[np.float64]] = []
    for record, name in _files(records):
        if len(parts) == MAX_FILES:
            break
        raw = _read(bundle, name)
        if raw is None:
            continue
        times = raw if record.case.mode is Mode.LATENCY else np.diff(raw)
        parts.append(times[times > 0].astype(np.float64) / NS_PER_MS)
    times_ms = np.concatenate(parts) if parts else np.empty(0)
    if times_ms.size < 2:
        return None
    found = np.quantile(times_ms, SHARES)
    points = tuple((share, float(ms)) for share, ms in zip(SHARES, found, strict=True))
    return Quantiles(points, int(times_ms.size))


def _files(records: Iterable[RunRecord]) -> Iterator[tuple[RunRecord, str]]:
    for record in records:
        for worker in record.workers:
            if worker.raw_samples is not None:
                yield record, worker.raw_samples


def _read(bundle: Bundle, name: str) -> npt.NDArray[np.int64] | None:
    try:
        raw = np.load(bundle.path_of(name), mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, BundleError):
        return None
    return raw if isinstance(raw, np.ndarray) and raw.ndim == 1 and raw.dtype == np.int64 else None
