"""Counting arrays of rows, against a vector that knows what each of its rows does."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.workloads.array_rows import ENDS_KEPT, ArrayRows
from envdyno.agent.workloads.contract import Autoreset

ends = st.lists(
    st.lists(st.sampled_from(["", "", "terminated", "truncated", "both"]), min_size=3, max_size=3),
    min_size=1,
    max_size=25,
)


@dataclass
class Row:
    """One environment with an autoreset of its own; it knows what it does."""

    mode: Autoreset
    age: int = 0
    transitions: int = 0
    resets: int = 0
    lengths: list[int] = field(default_factory=list)
    over: bool = False

    def call(self, end: str) -> tuple[float, bool, bool]:
        """Return reward, terminated and truncated of one call."""
        if self.over and self.mode is Autoreset.NEXT_STEP:
            self.resets += 1
            self.age, self.over = 0, False
            return 0.0, False, False
        self.transitions += 1
        self.age += 1
        self.over = bool(end)
        if end:
            self.lengths.append(self.age)
        if end and self.mode is not Autoreset.NEXT_STEP:
            self.age = 0
        return 0.5, end in ("terminated", "both"), end in ("truncated", "both")


@given(ends, st.sampled_from([Autoreset.SAME_STEP, Autoreset.NEXT_STEP, Autoreset.DISABLED]))
def test_counts_are_those_of_the_rows(steps: list[list[str]], mode: Autoreset) -> None:
    rows = [Row(mode) for _ in range(3)]
    counter = ArrayRows(3, mode)
    tallies = []
    for step in steps:
        reward, terminated, truncated = zip(*map(Row.call, rows, step), strict=True)
        tallies.append(counter.count(np.array(reward), np.array(terminated), np.array(truncated)))
    assert sum(tally.transitions for tally in tallies) == sum(row.transitions for row in rows)
    assert sum(tally.reset_rows for tally in tallies) == sum(row.resets for row in rows)
    assert sum(tally.episodes or 0 for tally in tallies) == sum(len(row.lengths) for row in rows)
    assert sum(tally.reward_sum or 0 for tally in tallies) == 0.5 * sum(row.transitions for row in rows)
    assert counter.episode_steps == sum(sum(row.lengths) for row in rows)


@given(ends, st.integers(min_value=1, max_value=4))
def test_ends_may_be_looked_at_as_rarely_as_one_likes(steps: list[list[str]], kept: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("envdyno.agent.workloads.array_rows.ENDS_KEPT", kept)
        rows, counter = [Row(Autoreset.NEXT_STEP) for _ in range(3)], ArrayRows(3, Autoreset.NEXT_STEP)
        for step in steps:
            reward, terminated, truncated = zip(*map(Row.call, rows, step), strict=True)
            counter.count(np.array(reward), np.array(terminated), np.array(truncated))
    assert counter.episode_steps == sum(sum(row.lengths) for row in rows)


def test_more_steps_with_ends_than_are_kept_are_counted_to_the_last() -> None:
    counter, always = ArrayRows(2, Autoreset.SAME_STEP), np.array([True, True])
    for _ in range(3 * ENDS_KEPT + 1):
        counter.count(np.zeros(2), always, ~always)
    assert counter.episode_steps == 2 * (3 * ENDS_KEPT + 1)
    assert ENDS_KEPT < 256, "the steps between two looks are numbered in one byte"


def test_a_full_reset_begins_every_episode_anew() -> None:
    counter = ArrayRows(2, Autoreset.NEXT_STEP)
    nothing, ended = np.zeros(2, bool), np.array([True, False])
    counter.count(np.zeros(2), ended, nothing)
    counter.restart()
    assert counter.count(np.zeros(2), nothing, nothing).transitions == 2
    counter.count(np.zeros(2), ended, ended)
    assert counter.episode_steps == 1 + 2


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("rows", [3, 10_000])
def test_rewards_of_any_type_are_summed(dtype: str, rows: int) -> None:
    counter, nothing = ArrayRows(rows, Autoreset.SAME_STEP), np.zeros(rows, bool)
    for reward in (1, 2):
        tally = counter.count(np.full(rows, reward, dtype), nothing, nothing)
        assert tally.reward_sum == pytest.approx(rows * reward, rel=1e-2)
