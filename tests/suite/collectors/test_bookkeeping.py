from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.suite.collectors.bookkeeping import RECENT_EPISODES, EpisodeBooks, ReturnScale

ROWS = 3
whole_rewards = st.lists(st.integers(-50, 50), min_size=ROWS, max_size=ROWS)
ends = st.sets(st.integers(0, ROWS - 1))
histories = st.lists(st.tuples(whole_rewards, ends, st.booleans()), max_size=40)


def rows_of(ended: set[int]) -> np.ndarray:
    return np.array(sorted(ended), np.intp)


@given(histories)
def test_returns_and_lengths_are_those_of_the_episodes(
    history: list[tuple[list[int], set[int], bool]],
) -> None:
    books = EpisodeBooks(ROWS)
    running: list[list[int]] = [[] for _ in range(ROWS)]
    expected = []
    truncated_episodes = 0
    for rewards, ended, is_truncated in history:
        truncated = np.zeros(ROWS, bool)
        truncated[list(ended)] = is_truncated
        books.add(np.array(rewards, np.float32), rows_of(ended), truncated)
        truncated_episodes += len(ended) if is_truncated else 0
        for row in range(ROWS):
            running[row].append(rewards[row])
        for row in sorted(ended):
            expected.append((float(sum(running[row])), len(running[row])))
            running[row] = []
    returns, lengths = books.recent()
    assert list(zip(returns.tolist(), lengths.tolist(), strict=True)) == expected
    assert (books.ended, books.truncated) == (len(expected), truncated_episodes)


def test_only_the_latest_episodes_are_kept() -> None:
    books = EpisodeBooks(1)
    for number in range(RECENT_EPISODES + 5):
        books.add(np.full(1, number, np.float32), np.array([0]), np.zeros(1, bool))
    returns, _ = books.recent()
    assert sorted(returns.tolist()) == [float(n) for n in range(5, RECENT_EPISODES + 5)]


def test_more_ends_in_one_step_than_are_kept_leave_the_last_of_them() -> None:
    rows = RECENT_EPISODES + 7
    books = EpisodeBooks(rows)
    books.add(np.arange(rows, dtype=np.float32), np.arange(rows), np.zeros(rows, bool))
    returns, lengths = books.recent()
    assert books.ended == rows
    assert sorted(returns.tolist()) == [float(n) for n in range(7, rows)]
    assert set(lengths.tolist()) == {1}


@settings(deadline=None)
@given(histories.filter(bool), st.floats(0.5, 0.999))
def test_the_scale_is_that_of_the_discounted_returns(
    history: list[tuple[list[int], set[int], bool]], discount: float
) -> None:
    scale = ReturnScale(ROWS, discount, 5.0)
    discounted = [0.0] * ROWS
    seen: list[float] = []
    for rewards, ended, _ in history:
        scale.add(np.array(rewards, np.float32), rows_of(ended))
        discounted = [value * discount + reward for value, reward in zip(discounted, rewards, strict=True)]
        seen += discounted
        for row in ended:
            discounted[row] = 0.0
    largest = max(abs(value) for value in seen)
    expected = max(statistics.pstdev(seen), largest / 5.0, 1e-8)
    assert scale.divisor == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_nothing_is_scaled_before_the_first_step() -> None:
    assert ReturnScale(ROWS, 0.97, 5.0).divisor == 1.0
