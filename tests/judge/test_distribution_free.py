from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.distribution_free import hodges_lehmann, signed_rank_interval

log_ratios = st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=12, unique=True)


def test_five_pairs_cannot_give_95_per_cent_and_six_can() -> None:
    assert signed_rank_interval([0.1, 0.2, 0.3, 0.4, 0.5]) is None
    interval = signed_rank_interval([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.1, 0.6))
    assert interval.confidence == pytest.approx(1 - 2 / 64)


def test_the_interval_is_the_set_of_centres_that_all_sign_flips_do_not_reject() -> None:
    d = np.asarray([0.11, -0.02, 0.31, 0.07, 0.19, 0.05, 0.23, -0.08])
    interval = signed_rank_interval(d)
    assert interval is not None
    for centre, inside in (
        (interval.low - 1e-6, False),
        (interval.low + 1e-6, True),
        (interval.high - 1e-6, True),
        (interval.high + 1e-6, False),
    ):
        assert (_flip_p(d - centre) > 0.05) is inside


def _flip_p(d: np.ndarray) -> float:
    """Two-sided p-value of the signed-rank sum over all flips of signs, by enumeration."""
    ranks = np.argsort(np.argsort(np.abs(d))) + 1
    observed = ranks[d > 0].sum()
    sums = [
        sum(r for r, s in zip(ranks, flips, strict=True) if s)
        for flips in itertools.product((0, 1), repeat=d.size)
    ]
    low = np.mean([s <= observed for s in sums])
    high = np.mean([s >= observed for s in sums])
    return float(2 * min(low, high))


@given(log_ratios)
def test_swapping_sides_turns_the_interval_round(d: list[float]) -> None:
    ours, theirs = signed_rank_interval(d), signed_rank_interval([-x for x in d])
    assert ours is not None
    assert theirs is not None
    assert (ours.low, ours.estimate, ours.high) == pytest.approx(
        (-theirs.high, -theirs.estimate, -theirs.low)
    )


@given(log_ratios)
def test_the_estimate_lies_in_its_interval(d: list[float]) -> None:
    interval = signed_rank_interval(d)
    assert interval is not None
    assert interval.low <= interval.estimate <= interval.high


def test_many_experiments_are_estimated_at_once_as_one_by_one() -> None:
    d = np.random.default_rng(0).normal(size=(5, 7))
    assert hodges_lehmann(d) == pytest.approx([float(hodges_lehmann(row)) for row in d])


def test_one_wild_pair_hardly_moves_the_estimate() -> None:
    calm = [0.01, -0.02, 0.0, 0.02, -0.01, 0.01, 0.0]
    assert float(hodges_lehmann([*calm, 5.0])) == pytest.approx(float(hodges_lehmann(calm)), abs=0.02)
