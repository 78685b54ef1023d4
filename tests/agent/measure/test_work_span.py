from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.work_span import WorkSpan
from envdyno.agent.protocol import FromWorker, encode, finite


def span_of(before: dict[str, Any], after: dict[str, Any], steps: int = 10) -> WorkSpan:
    """Read a workload's totals at two edges."""
    reads = iter((before, after))
    span = WorkSpan(lambda: next(reads))
    span.open()
    span.close(steps)
    return span


@given(st.integers(0, 10**12), st.integers(0, 10**9), st.integers(0, 10**6))
def test_totals_are_what_was_done_between_the_edges(before: int, done: int, steps: int) -> None:
    span = span_of({"substeps": before}, {"substeps": before + done}, steps)
    assert span.to_json() == {"vector_steps": steps, "totals": {"substeps": done}}


def test_a_total_that_is_told_at_one_edge_only_is_absent() -> None:
    assert span_of({"contacts": 3}, {"substeps": 4}).totals == {}


def test_what_is_no_number_is_absent_and_does_not_end_the_run() -> None:
    before = {"substeps": 1, "contacts": None, "engine": "mujoco", "warm": True, "dispatches": 5}
    after = {"substeps": 3, "contacts": None, "engine": "mujoco", "warm": True, "dispatches": None}
    assert span_of(before, after).totals == {"substeps": 2}


def test_totals_that_the_workload_changes_in_place_are_still_a_difference() -> None:
    running = {"substeps": 5}
    span = WorkSpan(lambda: running)
    span.open()
    running["substeps"] = 12
    span.close(1)
    assert span.totals == {"substeps": 7}


def test_totals_of_an_engines_own_number_types_can_be_sent() -> None:
    span = span_of({"contacts": np.int64(3)}, {"contacts": np.int64(10)})
    assert b'"contacts":7' in encode(FromWorker.MEASURED, finite(span.to_json()))
