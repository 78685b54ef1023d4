from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.measure.quantile import median, quantile

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)


@settings(max_examples=40)
@given(values, st.floats(0, 1))
def test_quantiles_are_numpys(series: list[float], q: float) -> None:
    assert quantile(sorted(series), q) == pytest.approx(np.quantile(series, q), rel=1e-9, abs=1e-9)


@settings(max_examples=40)
@given(values)
def test_the_median_is_numpys(series: list[float]) -> None:
    assert median(series) == pytest.approx(np.median(series), rel=1e-12, abs=1e-9)


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert median([4, 1, 3, 2]) == 2.5
    assert median([10, 90, 100, 11]) == 50.5


def test_the_ends_are_the_smallest_and_the_largest() -> None:
    assert (quantile([1, 2, 7], 0), quantile([1, 2, 7], 1)) == (1, 7)
    assert quantile([5], 0.99) == 5


def test_a_quantile_of_nothing_is_not_defined() -> None:
    with pytest.raises(ValueError, match="no values"):
        quantile([], 0.5)
    with pytest.raises(ValueError, match="no values"):
        median([])
