from __future__ import annotations

import math
from dataclasses import asdict
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure import step_log
from envdyno.agent.measure.step_log import StepLog, Totals, as_tally
from envdyno.agent.workloads.contract import Tally

NUM_ENVS = 8


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    """What a step may return in full: rows that advanced, rows that only reset, and what is not told."""
    reset_rows = draw(st.integers(0, NUM_ENVS))
    return Tally(
        draw(st.integers(0, NUM_ENVS - reset_rows)),
        reset_rows,
        draw(st.none() | st.integers(0, NUM_ENVS)),
        draw(st.none() | st.integers(0, NUM_ENVS)),
        # Quarters add up without rounding, in any order.
        draw(st.none() | st.integers(-1000, 1000).map(lambda value: value / 4) | st.just(math.nan)),
    )


outcomes = st.none() | st.integers(0, NUM_ENVS) | tallies()


@st.composite
def logged_steps(draw: st.DrawFn) -> list[tuple[int, object]]:
    """Completion times that never run backwards, each with the step's outcome; some times coincide."""
    gaps = draw(st.lists(st.integers(0, 40), max_size=25))
    return [(time, draw(outcomes)) for time in accumulate(gaps)]


def log_of(
    steps: list[tuple[int, object]], start_ns: int, end_ns: int, sub_windows: int, chunk: int = 1000
) -> StepLog:
    """Log steps as the stepping loop does, in chunks."""
    log = StepLog(NUM_ENVS, start_ns, end_ns, sub_windows)
    for begin in range(0, len(steps), chunk):
        times, kept = log.new_chunk()
        for time, outcome in steps[begin : begin + chunk]:
            times.append(time)
            kept.append(outcome)  # type: ignore[arg-type]
    log.fold()
    return log


def transitions_of(outcome: object) -> int:
    """What a step counts, by the contract's words."""
    if outcome is None:
        return NUM_ENVS
    return outcome.transitions if isinstance(outcome, Tally) else int(outcome)  # type: ignore[call-overload]


windows = st.tuples(st.integers(0, 800), st.integers(1, 800)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(logged_steps(), windows, st.integers(1, 7))
def test_the_totals_are_those_of_the_steps_completed_after_the_start_and_not_after_the_end(
    steps: list[tuple[int, object]], window: tuple[int, int], sub_windows: int
) -> None:
    start, end = window
    log = log_of(steps, start, end, sub_windows)
    inside = [outcome for time, outcome in steps if start < time <= end]
    assert log.totals.steps == len(inside)
    assert log.totals.transitions == sum(map(transitions_of, inside))
    assert list(log.raw_times_ns) == [time for time, _ in steps if start < time <= end]


@given(logged_steps(), windows, st.integers(1, 7))
def test_the_series_has_every_transition_once_in_its_own_sub_window(
    steps: list[tuple[int, object]], window: tuple[int, int], sub_windows: int
) -> None:
    start, end = window
    log = log_of(steps, start, end, sub_windows)
    edges = [start + (end - start) * index // sub_windows for index in range(sub_windows + 1)]
    for index in range(sub_windows):
        lower, upper = edges[index], edges[index + 1]
        assert log.series[index] == sum(
            transitions_of(outcome) for time, outcome in steps if lower < time <= upper
        )
    assert sum(log.series) == log.totals.transitions


@given(logged_steps(), windows, st.integers(1, 7), st.integers(1, 5), st.integers(1, 4))
def test_adding_up_on_the_way_gives_what_adding_up_at_the_end_gives(
    steps: list[tuple[int, object]], window: tuple[int, int], sub_windows: int, chunk: int, pending: int
) -> None:
    at_once = log_of(steps, *window, sub_windows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_log, "PENDING_CHUNKS", pending)
        in_parts = log_of(steps, *window, sub_windows, chunk)
    assert asdict(in_parts.totals) == asdict(at_once.totals)
    assert in_parts.series == at_once.series
    assert in_parts.raw_times_ns == at_once.raw_times_ns


@given(logged_steps(), windows)
def test_sums_that_one_step_did_not_tell_are_not_told(
    steps: list[tuple[int, object]], window: tuple[int, int]
) -> None:
    start, end = window
    totals = log_of(steps, start, end, 3).totals
    inside = [outcome for time, outcome in steps if start < time <= end]
    told = [outcome for outcome in inside if isinstance(outcome, Tally)]
    for name in ("episodes", "nonfinite_rows"):
        values = [getattr(outcome, name) for outcome in told]
        silent = len(told) < len(inside) or None in values
        assert getattr(totals, name) == (None if silent else sum(values))
    rewards = [outcome.reward_sum for outcome in told]
    finite = [reward for reward in rewards if reward is not None and math.isfinite(reward)]
    silent = len(told) < len(inside) or None in rewards
    assert totals.reward_sum == (None if silent else sum(finite))
    assert totals.nonfinite_rewards == sum(reward is not None and math.isnan(reward) for reward in rewards)


@pytest.mark.parametrize(("completed_ns", "counted"), [(100, 0), (101, 1), (200, 1), (201, 0)])
def test_a_step_that_ends_exactly_at_the_start_is_not_counted_and_exactly_at_the_end_is(
    completed_ns: int, counted: int
) -> None:
    log = log_of([(completed_ns, None)], 100, 200, 4)
    assert log.totals.steps == counted
    assert log.totals.transitions == counted * NUM_ENVS


def test_a_window_without_a_step_has_zero_sums_and_nothing_untold() -> None:
    log = log_of([], 0, 100, 4)
    assert log.totals == Totals()
    assert log.series == [0, 0, 0, 0]


def test_raw_times_stop_at_their_limit_while_counting_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_log, "RAW_STEPS", 3)
    log = log_of([(time, 1) for time in range(1, 11)], 0, 100, 2, chunk=2)
    assert list(log.raw_times_ns) == [1, 2, 3]
    assert log.totals.steps == 10


@pytest.mark.parametrize(
    ("outcome", "tally"),
    [
        (None, Tally(NUM_ENVS)),
        (5, Tally(5, 3)),
        (0, Tally(0, NUM_ENVS)),
        (np.int64(5), Tally(5, 3)),
        (Tally(2, 6, 1, 0, 3.5), Tally(2, 6, 1, 0, 3.5)),
    ],
)
def test_none_counts_every_row_and_a_number_counts_that_many(outcome: object, tally: Tally) -> None:
    assert as_tally(outcome, NUM_ENVS) == tally  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", [True, 2.5, "8", (8, 0), [8]])
def test_an_outcome_that_is_no_count_is_refused_with_its_type(outcome: object) -> None:
    with pytest.raises(TypeError, match=type(outcome).__name__):
        as_tally(outcome, NUM_ENVS)  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", [-1, 9, Tally(-1), Tally(9), Tally(0, 9), Tally(4, -1), Tally(5, 4)])
def test_counts_of_more_rows_than_there_are_are_refused(outcome: Tally | int) -> None:
    with pytest.raises(ValueError, match="of its 8 environments"):
        as_tally(outcome, NUM_ENVS)


def test_a_count_beyond_the_batch_is_not_told_as_negative_reset_rows() -> None:
    with pytest.raises(ValueError, match="9 of its 8 environments made a transition and 0 were reset rows"):
        as_tally(9, NUM_ENVS)


def test_array_scalars_neither_wrap_nor_round_nor_stay_in_the_sums() -> None:
    totals = Totals()
    big = Tally(np.int32(2**30), np.int32(0), np.int32(1), np.int32(0), np.float32(2**24))  # type: ignore[arg-type]
    for _ in range(4):
        totals.add(big)
    totals.add(Tally(1, 0, 0, 0, 1.0))
    assert totals.transitions == 2**32 + 1
    assert totals.reward_sum == 2**26 + 1
    assert {type(value) for value in asdict(totals).values()} == {int, float}
