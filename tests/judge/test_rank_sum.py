from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge import rank_sum
from envdyno.judge.rank_sum import mann_whitney_p, median_interval, median_shift, shift_interval

sample = st.lists(st.floats(0.0, 100.0), min_size=3, max_size=12, unique=True)


@given(sample, sample)
def test_the_test_agrees_with_scipys(first: list[float], second: list[float]) -> None:
    tied = len(set(first) | set(second)) < len(first) + len(second)
    method = "asymptotic" if tied else "exact"
    expected = scipy.stats.mannwhitneyu(first, second, method=method).pvalue
    assert mann_whitney_p(first, second) == pytest.approx(expected)


def test_ties_are_corrected_for_as_in_scipy() -> None:
    first, second = [1.0, 1.0, 1.0, 2.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0, 3.0, 3.0]
    expected = scipy.stats.mannwhitneyu(first, second, method="asymptotic").pvalue
    assert mann_whitney_p(first, second) == pytest.approx(expected)


def test_three_against_three_cannot_give_95_per_cent_two_sided_and_can_one_sided() -> None:
    first, second = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    assert shift_interval(first, second, 0.025) is None
    shift = shift_interval(first, second, 0.05)
    assert shift is not None
    assert (shift.low, shift.estimate, shift.high) == (1.0, 3.0, 5.0)


@given(st.integers(4, 12), st.integers(4, 12), st.integers(0, 10_000))
def test_a_shift_is_inside_its_interval_exactly_where_the_test_does_not_reject_it(
    n: int, m: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.normal(size=m)
    shift = shift_interval(x, y)
    assert shift is not None
    for end, inwards in ((shift.low, 1e-9), (shift.high, -1e-9)):
        assert mann_whitney_p(x, y - (end + inwards)) > 0.05
        assert mann_whitney_p(x, y - (end - inwards)) <= 0.05


def test_interval_of_a_median_is_that_of_the_sign_test() -> None:
    interval = median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert interval is not None
    assert (interval.low, interval.high, interval.confidence) == (1.0, 6.0, 1 - 2 / 64)
    longer = median_interval(list(range(1, 16)))
    assert longer is not None
    assert (longer.low, longer.high) == (4.0, 12.0)


def test_five_figures_give_no_interval_for_their_median() -> None:
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None


def test_many_figures_are_compared_without_all_their_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 1, 300), rng.normal(0.5, 1, 280)
    exact, median = shift_interval(x, y), median_shift(x, y)
    monkeypatch.setattr(rank_sum, "_ALL_DIFFERENCES_UP_TO", 0)
    assert exact is not None
    assert shift_interval(x, y) == pytest.approx(exact, abs=1e-9)
    assert median_shift(x, y) == pytest.approx(median, abs=1e-9)


def test_a_sample_without_figures_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one figure"):
        mann_whitney_p([], [1.0])
