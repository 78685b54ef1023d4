from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.summaries import OutlierClass, exceeds, summarise

rates = st.lists(st.floats(1.0, 1e6), min_size=1, max_size=40)


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert summarise([1.0, 10.0, 2.0, 3.0]).median == 2.5


def test_one_run_has_no_spread_and_says_why() -> None:
    summary = summarise([5.0])
    assert (summary.median, summary.minimum, summary.maximum) == (5.0, 5.0, 5.0)
    assert summary.cv is None
    assert summary.iqr is None
    assert summary.why_null["cv"] == "spread needs at least two runs, and there is 1"
    assert "quartiles" in summary.why_null["iqr"]


def test_no_run_at_all_has_no_figure_and_says_why() -> None:
    summary = summarise([], planned=6)
    assert (summary.n, summary.planned) == (0, 6)
    assert summary.median is summary.minimum is summary.mean is summary.cv is None
    assert set(summary.why_null) == {"median", "minimum", "maximum", "mean", "cv", "iqr"}


def test_how_many_of_how_many_runs_there_are_is_kept() -> None:
    summary = summarise([1.0, 2.0, 3.0], planned=6)
    assert (summary.n, summary.planned) == (3, 6)


def test_outliers_are_classed_and_stay_in_the_summary() -> None:
    values = [100.0, 101.0, 102.0, 103.0, 104.0, 108.0, 200.0, 10.0]
    summary = summarise(values)
    assert summary.n == 8
    assert (summary.minimum, summary.maximum) == (10.0, 200.0)
    assert [(o.index, o.outlier_class) for o in summary.outliers] == [
        (6, OutlierClass.HIGH_SEVERE),
        (7, OutlierClass.LOW_SEVERE),
    ]


def test_a_mild_outlier_is_told_from_a_severe_one() -> None:
    quartiles = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    mild, severe = summarise([*quartiles, 140.0]), summarise([*quartiles, 400.0])
    assert mild.outliers[0].outlier_class is OutlierClass.HIGH_MILD
    assert severe.outliers[0].outlier_class is OutlierClass.HIGH_SEVERE


def test_a_value_exactly_on_the_fence_is_no_outlier() -> None:
    values = [0.0, 0.0, 1.0, 2.0, 2.0, 5.0, 2.0, 0.0, 1.0]
    summary = summarise(values)
    assert summary.iqr == 2.0
    assert summary.outliers == ()
    assert summarise([*values[:5], 5.001, *values[6:]]).outliers[0].outlier_class is OutlierClass.HIGH_MILD


@pytest.mark.parametrize(("value", "answer"), [(0.49, False), (0.5, False), (0.51, True), (None, False)])
def test_a_limit_is_exceeded_only_beyond_it(value: float | None, answer: bool) -> None:
    assert exceeds(value, 0.5) is answer


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_figure_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        summarise([1.0, value])


@given(rates)
def test_a_summary_agrees_with_the_standard_library(values: list[float]) -> None:
    summary = summarise(values)
    assert summary.median == pytest.approx(statistics.median(values))
    assert summary.mean == pytest.approx(statistics.fmean(values))
    if len(values) > 1:
        expected = statistics.stdev(values) / statistics.fmean(values)
        assert summary.cv == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(rates)
def test_the_order_of_runs_does_not_matter(values: list[float]) -> None:
    shuffled = sorted(values, reverse=True)
    ours, theirs = summarise(values), summarise(shuffled)
    assert (ours.median, ours.minimum, ours.iqr) == (theirs.median, theirs.minimum, theirs.iqr)
    assert sorted(o.value for o in ours.outliers) == sorted(o.value for o in theirs.outliers)
