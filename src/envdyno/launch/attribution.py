"""Throughput and attribution apart: a run with phases on beside one with phases off."""

from __future__ import annotations

from envdyno.agent.job import Timing
from envdyno.agent.measure.phase_tree import ObserverEffect
from envdyno.plan.run_request import RunRequest
from envdyno.record.run_record import RunRecord


def attribution_request(request: RunRequest) -> RunRequest:
    """Return the same request with phases on."""
    return request.model_copy(update={"timing": Timing.ATTRIBUTION})


def with_observer_effect(attribution: RunRecord, throughput: RunRecord) -> RunRecord:
    """Return the attribution run's record with what timing the phases cost."""
    off, on = mean_step_ms(throughput), mean_step_ms(attribution)
    if off is None or on is None:
        return attribution
    effect = ObserverEffect(throughput_step_ms=off, attribution_step_ms=on)
    return attribution.model_copy(update={"observer_effect": effect.to_json()})


def mean_step_ms(record: RunRecord) -> float | None:
    """Return the time of a vector step of one worker: its window over the steps completed in it."""
    if record.throughput is None or record.totals is None or not record.totals.vector_steps:
        return None
    return record.throughput.elapsed_s * len(record.workers) / record.totals.vector_steps * 1e3
