from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge import series
from envdyno.judge.series import Stationarity, examine_series, is_trending


def noise(n: int, sd: float = 0.01, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, sd, n)


def waves(n: int, sd: float, seed: int) -> np.ndarray:
    """An autoregressive series in which each figure keeps 0.8 of the one before."""
    innovations = np.random.default_rng(seed).normal(0.0, sd, n)
    x = np.zeros(n)
    for i in range(1, n):
        x[i] = 0.8 * x[i - 1] + innovations[i]
    return x


def test_a_level_series_is_steady() -> None:
    report = examine_series((100 * (1 + noise(40))).tolist())
    assert report.stationarity is Stationarity.STEADY
    assert report.trend == pytest.approx(0.0, abs=0.02)


def test_a_window_that_slows_down_is_flagged_with_its_size() -> None:
    report = examine_series((100 * np.linspace(1.0, 0.8, 30) * (1 + noise(30))).tolist())
    assert report.stationarity is Stationarity.TREND
    assert report.trend == pytest.approx(-0.22, abs=0.03)


def test_a_run_that_slows_down_late_is_flagged_by_its_thirds() -> None:
    slow_at_the_end = 100 * (1 + noise(30))
    slow_at_the_end[20:] /= 4
    report = examine_series(slow_at_the_end.tolist())
    assert report.stationarity is Stationarity.TREND
    assert report.last_third_over_first == pytest.approx(0.25, abs=0.02)


def test_a_sure_but_tiny_trend_is_no_alarm() -> None:
    report = examine_series(np.linspace(100.0, 101.0, 50).tolist())
    assert report.trend_p is not None
    assert report.trend_p < 0.001
    assert report.stationarity is Stationarity.STEADY


def test_too_few_sub_windows_are_not_judged_and_say_why() -> None:
    report = examine_series([100.0, 50.0, 25.0, 12.0, 6.0])
    assert report.stationarity is Stationarity.TOO_SHORT
    assert report.trend is None
    assert "at least 6" in report.why_null["trend"]


def test_independent_sub_windows_count_nearly_in_full() -> None:
    effective = [examine_series((100 + noise(100, 1.0, seed)).tolist()).effective_n for seed in range(20)]
    assert 70 < float(np.median([n for n in effective if n is not None])) <= 100


def test_autocorrelated_sub_windows_count_for_fewer() -> None:
    reports = [examine_series((100 + waves(400, 1.0, seed)).tolist()) for seed in range(20)]
    correlations = [r.lag1_autocorrelation for r in reports if r.lag1_autocorrelation is not None]
    effective = [r.effective_n for r in reports if r.effective_n is not None]
    assert float(np.median(correlations)) == pytest.approx(0.8, abs=0.06)
    assert float(np.median(effective)) == pytest.approx(400 * 0.2 / 1.8, rel=0.35)


def test_equal_figures_have_no_autocorrelation_and_say_why() -> None:
    report = examine_series([100.0] * 20)
    assert report.stationarity is Stationarity.STEADY
    assert report.effective_n is None
    assert "not all equal" in report.why_null["effective_n"]


def test_steady_series_are_rarely_called_drifting() -> None:
    reports = [examine_series((100 * (1 + noise(30, 0.05, seed))).tolist()) for seed in range(300)]
    assert sum(r.stationarity is Stationarity.TREND for r in reports) <= 9


def test_slow_waves_are_rarely_called_a_trend() -> None:
    reports = [examine_series((100 * np.exp(waves(60, 0.02, seed))).tolist()) for seed in range(200)]
    assert sum(r.stationarity is Stationarity.TREND for r in reports) <= 30


def test_a_series_that_is_mostly_empty_has_no_trend_and_says_why() -> None:
    report = examine_series([0.0] * 12 + [64.0] * 8)
    assert report.stationarity is Stationarity.TOO_SHORT
    assert report.trend is None
    assert "nothing was completed" in report.why_null["trend"]


def test_a_series_that_begins_empty_trends_but_has_no_ratio_to_its_beginning() -> None:
    report = examine_series([0.0] * 5 + [64.0, 80.0, 96.0, 96.0, 112.0] * 3)
    assert report.stationarity is Stationarity.TREND
    assert report.last_third_over_first is None
    assert report.why_null["last_third_over_first"] == "nothing was completed in most of the first third"


@given(st.lists(st.floats(0.0, 1e6), max_size=30))
def test_the_quick_answer_is_the_full_one(values: list[float]) -> None:
    assert is_trending(values) is (examine_series(values).stationarity is Stationarity.TREND)


@given(st.lists(st.floats(0.97, 1.03), min_size=6, max_size=30))
def test_the_quick_answer_is_the_full_one_near_the_limit(values: list[float]) -> None:
    assert is_trending(values) is (examine_series(values).stationarity is Stationarity.TREND)


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=30))
def test_the_quick_median_is_the_median(values: list[float]) -> None:
    assert series._median(np.asarray(values)) == np.median(values)
