"""Counting tensors of rows, against the lengths of episodes by hand, and without fetching anything."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from device_array import DeviceArray
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.workloads.tensor_rows import TensorRows

ROWS = 3
ends = st.lists(st.lists(st.booleans(), min_size=ROWS, max_size=ROWS), max_size=20)


def rows_on_device(fetched: list[str]) -> TensorRows:
    """Count for three rows."""
    torch = SimpleNamespace(
        zeros=lambda size, dtype, device: DeviceArray(np.zeros(size, dtype), fetched), int64="int64"
    )
    return TensorRows(ROWS, "cuda:0", torch)


def lengths(steps: list[list[bool]]) -> int:
    """Transitions in the episodes that ended, row by row."""
    total = 0
    for row in zip(*steps, strict=True):
        age = 0
        for over in row:
            age += 1
            if over:
                total, age = total + age, 0
    return total


def counted(rows: TensorRows, steps: list[list[bool]], fetched: list[str]) -> list[Any]:
    """Count the steps; return the tallies."""
    rewards = DeviceArray(np.full(ROWS, 0.5), fetched)
    return [rows.count(rewards, DeviceArray(over, fetched)) for over in steps]


@given(ends, ends)
def test_lengths_are_those_of_the_rows_and_a_reset_begins_every_episode_anew(
    first: list[list[bool]], later: list[list[bool]]
) -> None:
    rows = rows_on_device([])
    counted(rows, first, [])
    rows.restart()
    tallies = counted(rows, later, [])
    assert rows.episode_steps == lengths(first) + lengths(later)
    assert sum(int(tally.episodes) for tally in tallies) == sum(map(sum, later))
    assert all((tally.transitions, tally.reset_rows) == (ROWS, 0) for tally in tallies)


def test_steps_fetch_nothing_from_the_device() -> None:
    fetched: list[str] = []
    rows = rows_on_device(fetched)
    counted(rows, [[True, False, True]] * 4, fetched)
    assert fetched == []
    assert rows.episode_steps == 8
    assert fetched == ["int"]
