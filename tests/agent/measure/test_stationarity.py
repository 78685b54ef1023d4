from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.measure.stationarity import (
    MINIMUM_POINTS,
    RELEVANT_CHANGE,
    SIGNIFICANCE_Z,
    Trend,
    block_medians,
    trend,
)

series_of_times = st.lists(st.floats(0.1, 1e3), min_size=MINIMUM_POINTS, max_size=20)


def found(series: list[float]) -> Trend:
    """The trend of a series that is long enough to have one."""
    result = trend(series)
    assert result is not None
    return result


@pytest.mark.parametrize("points", range(MINIMUM_POINTS, 25))
def test_a_rise_of_a_tenth_is_seen_at_every_length_that_is_tested(points: int) -> None:
    rise = found([1 + 0.1 * index / (points - 1) for index in range(points)])
    assert rise.relative_change == pytest.approx(0.1 / 1.05)
    assert not rise.steady


def test_a_series_too_short_for_any_trend_to_be_significant_is_not_judged() -> None:
    """Even a strictly rising series one point shorter stays below the level: "steady" would say nothing."""
    points = MINIMUM_POINTS - 1
    best = points * (points - 1) / 2
    variance = points * (points - 1) * (2 * points + 5) / 18
    assert (best - 1) / math.sqrt(variance) < SIGNIFICANCE_Z
    assert trend([1.0 * index for index in range(1, points + 1)]) is None


@given(st.floats(0.1, 1e6), st.integers(MINIMUM_POINTS, 30))
def test_a_constant_series_has_no_trend(value: float, points: int) -> None:
    flat = found([value] * points)
    assert (flat.z, flat.relative_change, flat.steady) == (0, 0, True)


@settings(max_examples=40)
@given(series_of_times)
def test_a_series_read_backwards_has_the_opposite_trend(series: list[float]) -> None:
    forth, back = found(series), found(series[::-1])
    assert back.z == -forth.z
    assert back.relative_change == pytest.approx(-forth.relative_change, abs=1e-9)


@settings(max_examples=40)
@given(series_of_times, st.floats(0.01, 100))
def test_the_unit_of_time_does_not_matter(series: list[float], factor: float) -> None:
    once, scaled = found(series), found([value * factor for value in series])
    assert scaled.relative_change == pytest.approx(once.relative_change, rel=1e-6, abs=1e-9)


def test_z_is_that_of_mann_and_kendall() -> None:
    series = [3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.6, 5.3]
    score = sum((b > a) - (b < a) for a, b in itertools.combinations(series, 2))
    assert found(series).z == pytest.approx((score - 1) / math.sqrt(8 * 7 * 21 / 18))


def test_one_slow_step_in_a_steady_series_is_no_trend() -> None:
    assert found([1.0] * 9 + [50.0]).steady
    assert found([50.0] + [1.0] * 9).steady


def test_a_significant_trend_too_small_to_matter_is_steady() -> None:
    small = found([1 + 0.04 * index / 19 for index in range(20)])
    assert abs(small.z) >= SIGNIFICANCE_Z
    assert abs(small.relative_change) < RELEVANT_CHANGE
    assert small.steady


def test_a_change_exactly_at_the_limit_counts_and_just_below_it_does_not() -> None:
    significant = SIGNIFICANCE_Z
    assert not Trend(10, RELEVANT_CHANGE, significant).steady
    assert Trend(10, math.nextafter(RELEVANT_CHANGE, 0), significant).steady
    assert Trend(10, RELEVANT_CHANGE, math.nextafter(significant, 0)).steady


def test_noise_alone_is_rarely_taken_for_a_trend() -> None:
    draw = random.Random(7)
    runs = [found([draw.gauss(1.0, 0.3) for _ in range(20)]) for _ in range(2000)]
    assert sum(not run.steady for run in runs) / len(runs) < 0.015


@pytest.mark.parametrize("series", [[0.0] * 20, [0.0] * 15 + [1.0] * 5, [-1.0] * 20])
def test_a_series_around_nothing_has_no_relative_change(series: list[float]) -> None:
    assert trend(series) is None


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1e3), max_size=60), st.integers(1, 12))
def test_blocks_are_nearly_equal_runs_of_all_steps(durations: list[float], blocks: int) -> None:
    medians = block_medians(durations, blocks)
    assert len(medians) == min(blocks, len(durations))
    if durations and len(durations) % blocks == 0:
        size = len(durations) // blocks
        assert medians == [
            pytest.approx(block_medians(durations[begin : begin + size], 1)[0])
            for begin in range(0, len(durations), size)
        ]


def test_blocks_of_a_ramp_rise_in_order() -> None:
    assert block_medians([1, 2, 3, 4, 5, 6, 7], 3) == [1.5, 3.5, 6]
    assert block_medians([], 3) == []
