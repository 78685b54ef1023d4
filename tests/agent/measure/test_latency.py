from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.measure.latency import latency


@settings(max_examples=40)
@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60))
def test_latency_is_quantiles_in_milliseconds_over_all_steps(durations_ns: list[int]) -> None:
    found = latency(durations_ns)
    assert found is not None
    expected = np.quantile(np.array(durations_ns) / 1e6, [0.1, 0.5, 0.9, 0.99])
    assert [found.p10_ms, found.p50_ms, found.p90_ms, found.p99_ms] == pytest.approx(expected, abs=1e-6)
    assert (found.min_ms, found.max_ms) == (min(durations_ns) / 1e6, max(durations_ns) / 1e6)
    assert found.mean_ms == pytest.approx(sum(durations_ns) / len(durations_ns) / 1e6)
    assert found.steps == len(durations_ns)
    assert found.min_ms <= found.p10_ms <= found.p50_ms <= found.p90_ms <= found.p99_ms <= found.max_ms


def test_no_steps_have_no_latency() -> None:
    assert latency([]) is None


def test_it_travels_as_plain_numbers() -> None:
    found = latency([1_000_000, 3_000_000])
    assert found is not None
    assert found.to_json() == {
        "p10_ms": 1.2, "p50_ms": 2.0, "p90_ms": 2.8, "p99_ms": 2.98,
        "min_ms": 1.0, "max_ms": 3.0, "mean_ms": 2.0, "steps": 2,
    }  # fmt: skip
