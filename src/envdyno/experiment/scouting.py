"""Scouting: which batch sizes are worth a sweep, where nobody said.

One short run of each power of two, smallest first, with one worker a node and all its threads, until more
environments bring no more, do not fit into memory, take too long for a window of many steps, or fail. The
rates of scouting runs choose batch sizes and nothing else: they are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from envdyno.experiment.history import FAILED
from envdyno.judge.knee import MIN_GAIN, is_flat, knee_of
from envdyno.plan.expand import PlannedRun
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import scouted_num_envs
from envdyno.record.status import Status

AROUND_KNEE = 4
"""A sweep goes from the knee divided by this to the knee times this: fewer threads have an earlier knee."""


LEAST_STEPS = 50
"""A window of the sweep holds so many vector steps at least, for its edges cut off up to one at each end."""


def scouted_rates(records: Sequence[RunRecord]) -> dict[int, float]:
    """Return the rates of the scouting runs that went well, by batch size."""
    rates: dict[int, float] = {}
    for record in records:
        size = _size(record)
        if size is not None and record.status is Status.OK and record.throughput is not None:
            rates[size] = record.throughput.transitions_per_s
    return rates


def chosen_num_envs(records: Sequence[RunRecord]) -> tuple[int, ...]:
    """Return the batch sizes that scouting chose; none if no run went well."""
    rates = scouted_rates(records)
    if not any(rates.values()):
        return ()
    knee = knee_of(rates)
    return tuple(size for size in sorted(rates) if knee <= size * AROUND_KNEE <= knee * AROUND_KNEE**2)


def why_no_further(
    memory_bytes: Callable[[], int | None], window_s: float
) -> Callable[[PlannedRun, Sequence[RunRecord]], str | None]:
    """Return what tells why a scouting run is left out; ``None`` for a run that is made.

    Args:
        memory_bytes: how much memory the workers could have now; ``None`` where that is not known.
        window_s: of the sweep.
    """

    def why(run: PlannedRun, records: Sequence[RunRecord]) -> str | None:
        size = scouted_num_envs(run.case)
        if size is None:
            return None
        failed = [_size(record) for record in records if record.status in FAILED and _is_final(record)]
        smaller = [other for other in failed if other is not None and other < size]
        if smaller:
            return f"{min(smaller):,} environments failed already."
        rates = scouted_rates(records)
        if is_flat(rates):
            return (
                f"More than {sorted(rates)[-3]:,} environments brought less than "
                f"{100 * (MIN_GAIN - 1):.0f} % more, twice in a row."
            )
        return _too_slow(size, records, window_s) or _memory_short(size, records, memory_bytes)

    return why


def _memory_short(
    size: int, records: Sequence[RunRecord], memory_bytes: Callable[[], int | None]
) -> str | None:
    """Return why a batch would not fit, by what the largest one so far took."""
    known = {found: rss for record in records if (found := _size(record)) and (rss := _resident(record))}
    if not known:
        return None
    largest = max(known)
    need, room = known[largest] * size / largest, memory_bytes()
    if room is None or need <= room:
        return None
    return (
        f"{largest:,} environments took {known[largest] / 2**30:.1f} GiB, so {size:,} may need "
        f"{need / 2**30:.1f} GiB, and {room / 2**30:.1f} GiB are free."
    )


def _too_slow(size: int, records: Sequence[RunRecord], window_s: float) -> str | None:
    """Return why a window would hold too few steps of a batch, by how long those of the largest one took."""
    known = {found: step for record in records if (found := _size(record)) and (step := _step_s(record))}
    if not known:
        return None
    largest = max(known)
    step_s = known[largest] * size / largest
    if step_s * LEAST_STEPS <= window_s:
        return None
    return (
        f"A vector step of {size:,} environments may take {step_s:.2g} s, and a window of {window_s:g} s "
        f"would hold fewer than {LEAST_STEPS}. A longer --duration goes on."
    )


def _step_s(record: RunRecord) -> float | None:
    if record.throughput is None or record.totals is None or not record.totals.vector_steps:
        return None
    return record.throughput.elapsed_s * max(1, len(record.workers)) / record.totals.vector_steps


def _resident(record: RunRecord) -> int:
    return sum(worker.use.rss_bytes for worker in record.workers if worker.use is not None)


def _size(record: RunRecord) -> int | None:
    return scouted_num_envs(record.experiment.case) if record.experiment is not None else None


def _is_final(record: RunRecord) -> bool:
    return record.experiment is not None and record.experiment.final
