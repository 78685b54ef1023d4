"""Episodes of motion tracking begin more often where they failed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from envdyno.suite.tasks.motion_tracking import StartPhase
from envdyno.suite.tasks.start_sampler import StartSampler


def shares(sampler: StartSampler, frames: int, bins: int, count: int = 4000) -> np.ndarray:
    drawn = sampler.draw(np.random.default_rng(1), count)
    return np.bincount(drawn * bins // frames, minlength=bins) / count


@given(st.integers(1, 40), st.integers(40, 5000), st.integers(0, 2**32))
def test_every_start_is_a_frame_of_the_motion(bins, frames, seed):
    sampler = StartSampler(StartPhase(bins), frames)
    sampler.record(np.array([frames - 1, 0, frames // 2]))
    drawn = sampler.draw(np.random.default_rng(seed), 64)
    assert drawn.min() >= 0
    assert drawn.max() < frames


def test_without_failures_starts_are_spread_evenly():
    found = shares(StartSampler(StartPhase(bins=10), 1000), 1000, 10)
    np.testing.assert_allclose(found, 0.1, atol=0.03)


def test_starts_gather_where_episodes_fail_and_nowhere_is_forgotten():
    sampler = StartSampler(StartPhase(bins=10), 1000)
    for _ in range(400):
        sampler.record(np.full(5, 730))
    found = shares(sampler, 1000, 10)
    assert found[7] > 0.8
    assert found.min() > 0.0


def test_old_failures_are_forgotten():
    sampler = StartSampler(StartPhase(bins=4), 400)
    sampler.record(np.full(100, 10))
    for _ in range(6000):
        sampler.record(np.zeros(0, np.int32))
    np.testing.assert_allclose(shares(sampler, 400, 4), 0.25, atol=0.05)
