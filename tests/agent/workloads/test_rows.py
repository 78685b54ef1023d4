from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from device_array import DeviceArray
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.measure.step_log import StepLog
from envdyno.agent.workloads.contract import Autoreset, Tally
from envdyno.agent.workloads.rows import RowCounter, is_row_result, row_count

flags = st.lists(st.booleans(), min_size=3, max_size=3)
episode_ends = st.lists(st.tuples(flags, flags), min_size=1, max_size=12)


def outcome(terminated: list[bool], truncated: list[bool]) -> tuple[Any, ...]:
    """One step of three rows."""
    return np.zeros((3, 2)), np.full(3, 0.5, "float32"), np.array(terminated), np.array(truncated), {}


def count(ends: list[tuple[list[bool], list[bool]]], mode: Autoreset) -> list[Tally]:
    """The tallies of consecutive steps."""
    left = iter([outcome(*end) for end in ends])
    counter = RowCounter(lambda actions: next(left), 3, mode)
    return [counter.step(None) for _ in ends]


@settings(max_examples=40)
@given(episode_ends, st.sampled_from([mode for mode in Autoreset if mode is not Autoreset.NEXT_STEP]))
def test_every_row_is_a_transition_unless_the_next_step_resets(
    ends: list[tuple[list[bool], list[bool]]], mode: Autoreset
) -> None:
    for tally, (terminated, truncated) in zip(count(ends, mode), ends, strict=True):
        assert (tally.transitions, tally.reset_rows) == (3, 0)
        assert tally.episodes == sum(map(max, terminated, truncated))
        assert tally.reward_sum == 1.5


@settings(max_examples=40)
@given(episode_ends)
def test_with_next_step_autoreset_rows_that_ended_only_reset_in_the_step_after(
    ends: list[tuple[list[bool], list[bool]]],
) -> None:
    tallies = count(ends, Autoreset.NEXT_STEP)
    assert tallies[0].reset_rows == 0
    for before, after in pairwise(tallies):
        assert after.reset_rows == before.episodes
    assert all(tally.transitions + tally.reset_rows == 3 for tally in tallies)


def test_a_row_that_is_terminated_and_truncated_at_once_ends_one_episode() -> None:
    (tally,) = count([([True, True, False], [True, False, False])], Autoreset.SAME_STEP)
    assert tally.episodes == 2


def test_the_older_four_values_with_done_are_counted() -> None:
    counter = RowCounter(lambda actions: None, 3, Autoreset.SAME_STEP)
    done = np.array([1, 0, 1], dtype="uint8")
    assert counter.observe((np.zeros(3), np.ones(3), done, {})) == Tally(3, 0, 2, None, 3.0)


def test_plain_lists_are_counted_like_arrays() -> None:
    counter = RowCounter(lambda actions: None, 3, Autoreset.SAME_STEP)
    assert counter.observe(([[0.0]] * 3, [1.0, 2.0, 3.0], [True, False, False], [True, True, False], {})) == (
        Tally(3, 0, 2, None, 6.0)
    )


def test_the_latest_observations_are_shown() -> None:
    counter = RowCounter(lambda actions: None, 3, Autoreset.SAME_STEP)
    assert counter.observation() is None
    step = outcome([False] * 3, [False] * 3)
    counter.observe(step)
    assert counter.observation() is step[0]


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ((1, 2, 3, 4), True),
        ((1, 2, 3, 4, 5), True),
        ((1, 2, 3), False),
        ([1, 2, 3, 4, 5], False),
        (Tally(1, 2, 3, 4, 5.0), False),
        (None, False),
    ],
)
def test_only_plain_tuples_of_four_or_five_are_rows(value: Any, rows: bool) -> None:
    assert is_row_result(value) is rows


@pytest.mark.parametrize(
    ("reward", "rows"), [(np.ones(3), 3), ([1.0], 1), (1.0, None), (np.float32(1), None)]
)
def test_rows_are_counted_by_their_rewards(reward: Any, rows: int | None) -> None:
    assert row_count((None, reward, None, None, {})) == rows


@pytest.mark.parametrize("mode", [Autoreset.SAME_STEP, Autoreset.NEXT_STEP])
def test_counts_of_arrays_on_a_device_are_fetched_after_the_window_only(mode: Autoreset) -> None:
    fetched: list[str] = []

    def step(actions: Any) -> tuple[Any, ...]:
        columns = (np.full(3, 0.5), np.array([True, False, True]), np.array([True, False, False]))
        return None, *(DeviceArray(column, fetched) for column in columns), {}

    counter = RowCounter(step, 3, mode)
    log = StepLog(3, 0, 10, sub_windows=1)
    times, outcomes = log.new_chunk()
    for now in range(1, 5):
        times.append(now)
        outcomes.append(counter.step(None))
    assert fetched == []
    log.fold()
    assert set(fetched) >= {"int", "float"}
    resets = 6 if mode is Autoreset.NEXT_STEP else 0
    totals = log.totals
    assert (totals.transitions, totals.reset_rows) == (12 - resets, resets)
    assert (totals.episodes, totals.reward_sum) == (8, 6.0)


def test_counts_of_arrays_on_the_host_are_numbers_of_pythons_own() -> None:
    counter = RowCounter(lambda actions: None, 3, Autoreset.NEXT_STEP)
    done = np.array([1, 0, 1], dtype="uint8")
    tallies = [counter.observe((None, np.ones(3, "float16"), done, {})) for _ in range(2)]
    assert [type(value) for value in tallies[1] if value is not None] == [int, int, int, float]
