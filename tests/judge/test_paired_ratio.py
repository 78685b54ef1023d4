from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.paired_ratio import VarianceSource, fit_pairs, half_width, lower_tail, upper_tail

pairs = st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=14)


def alternating(n: int) -> list[bool]:
    return [i % 2 == 1 for i in range(n)]


def test_three_pairs_give_students_interval() -> None:
    d = [-0.44, -0.45, -0.43]
    fit = fit_pairs(d, alternating(3))
    low, high = scipy.stats.t.interval(0.95, 2, loc=np.mean(d), scale=scipy.stats.sem(d))
    width = float(half_width(fit, (), 0.025))
    assert (float(fit.mean) - width, float(fit.mean) + width) == pytest.approx((low, high))


def test_two_pairs_give_an_interval_and_one_pair_is_refused() -> None:
    assert float(half_width(fit_pairs([0.0, 0.1], [False, True]), (), 0.05)) == pytest.approx(
        6.3138 * 0.05, rel=1e-4
    )
    with pytest.raises(ValueError, match="at least two pairs, and there is 1"):
        fit_pairs([0.1], [False])


def test_from_six_pairs_on_the_order_within_pairs_is_estimated_and_removed() -> None:
    order = alternating(6)
    d = [0.2 + (-0.05 if head_first else 0.05) for head_first in order]
    fit = fit_pairs(d, order)
    assert float(fit.mean) == pytest.approx(0.2)
    assert fit.position_effect is not None
    assert float(fit.position_effect) == pytest.approx(0.05)
    assert float(fit.residual.variance) == pytest.approx(0.0, abs=1e-12)
    assert fit.residual.df == 4


def test_an_uneven_number_of_pairs_is_still_balanced_between_both_orders() -> None:
    order = alternating(7)
    d = [0.2 + (-0.05 if head_first else 0.05) for head_first in order]
    assert float(fit_pairs(d, order).mean) == pytest.approx(0.2)


def test_five_pairs_keep_all_their_degrees_of_freedom() -> None:
    fit = fit_pairs([0.1, 0.2, 0.3, 0.2, 0.1], alternating(5))
    assert fit.position_effect is None
    assert fit.residual.df == 4


def test_pairs_in_one_order_only_have_no_position_effect() -> None:
    assert fit_pairs([0.1] * 8, [False] * 8).position_effect is None


def test_the_interval_with_position_effect_is_that_of_the_linear_model() -> None:
    order = alternating(9)
    d = np.random.default_rng(2).normal(0.1, 0.02, 9)
    fit = fit_pairs(d, order)
    design = np.column_stack([np.ones(9), np.where(order, -1.0, 1.0)])
    solution, residual, *_ = np.linalg.lstsq(design, d, rcond=None)
    covariance = np.linalg.inv(design.T @ design) * residual[0] / 7
    assert float(fit.mean) == pytest.approx(solution[0])
    assert float(fit.standard_error()) == pytest.approx(math.sqrt(covariance[0, 0]))


def test_as_many_orders_as_pairs_are_needed() -> None:
    with pytest.raises(ValueError, match="3 log ratios came with 2 orders"):
        fit_pairs([0.1, 0.2, 0.3], [False, True])


@given(pairs, st.floats(0.001, 0.4))
def test_a_bound_and_its_p_value_agree_at_every_level(d: list[float], tail: float) -> None:
    fit = fit_pairs(d, alternating(len(d)))
    known = (VarianceSource("other", np.asarray(0.01**2), 3.0),)
    width = float(half_width(fit, known, tail))
    assert float(upper_tail(fit, known, float(fit.mean) - width)) == pytest.approx(tail, rel=1e-6)
    assert float(lower_tail(fit, known, float(fit.mean) + width)) == pytest.approx(tail, rel=1e-6)


@given(pairs)
def test_swapping_sides_inverts_the_ratio_and_its_interval(d: list[float]) -> None:
    order = alternating(len(d))
    ours = fit_pairs(d, order)
    theirs = fit_pairs([-x for x in d], [not first for first in order])
    assert float(theirs.mean) == pytest.approx(-float(ours.mean), abs=1e-12)
    assert float(half_width(theirs, (), 0.05)) == pytest.approx(float(half_width(ours, (), 0.05)), abs=1e-9)


@given(pairs, st.floats(0.0, 0.2), st.floats(1.0, 50.0))
def test_another_opinion_on_the_noise_never_narrows_the_interval(
    d: list[float], sd: float, df: float
) -> None:
    fit = fit_pairs(d, alternating(len(d)))
    other = VarianceSource("other", np.asarray(sd**2), df)
    assert float(half_width(fit, (other,), 0.05)) >= float(half_width(fit, (), 0.05))


def test_equal_log_ratios_without_any_opinion_are_certain() -> None:
    fit = fit_pairs([-0.25, -0.25, -0.25], alternating(3))
    assert float(lower_tail(fit, (), -0.125)) == 0.0
    assert float(upper_tail(fit, (), -0.125)) == 1.0


def test_thousands_of_experiments_are_judged_as_one_by_one() -> None:
    d = np.random.default_rng(0).normal(0.0, 0.02, (50, 7))
    order = alternating(7)
    together = lower_tail(fit_pairs(d, order), (), 0.01)
    assert together == pytest.approx([float(lower_tail(fit_pairs(row, order), (), 0.01)) for row in d])
