from __future__ import annotations

import math

import numpy as np
import pytest

from envdyno.judge.distributions import trigamma, trigamma_inverse
from envdyno.judge.paired_ratio import fit_pairs, half_width
from envdyno.judge.variance_sources import (
    LEAST_SPREAD,
    NoisePrior,
    least_spread,
    moderated,
    prior_from_cases,
)

ORDER = (False, True, False)


def test_a_lucky_small_spread_is_widened_by_what_is_known_of_the_machine() -> None:
    fit = fit_pairs([-0.150, -0.1501, -0.1499], ORDER)
    floor = moderated(fit, NoisePrior("noise_floor", 0.03**2, 5))
    alone, informed = (float(half_width(fit, known, 0.05)) for known in ((), (floor,)))
    assert alone < 0.001
    assert informed == pytest.approx(1.895 * math.sqrt(5 / 7 * 0.03**2 / 3), rel=0.01)


def test_a_quiet_neighbour_does_not_narrow_a_noisy_case() -> None:
    fit = fit_pairs([-0.1, 0.0, 0.1], ORDER)
    quiet = moderated(fit, NoisePrior("other_cases", 0.001**2, 30))
    assert float(half_width(fit, (quiet,), 0.05)) == float(half_width(fit, (), 0.05))


def test_equal_figures_are_rounding_and_not_certainty() -> None:
    fit = fit_pairs([-0.1, -0.1, -0.1], ORDER)
    assert float(half_width(fit, (least_spread(),), 0.05)) == pytest.approx(
        1.645 * LEAST_SPREAD / math.sqrt(3), rel=1e-3
    )


def test_a_window_of_few_vector_steps_cannot_count_finely() -> None:
    assert float(least_spread(counting_variance=0.02**2).variance) == pytest.approx(0.02**2)
    assert float(least_spread(counting_variance=1e-9).variance) == pytest.approx(LEAST_SPREAD**2)


def test_a_prior_weighs_as_much_as_its_degrees_of_freedom() -> None:
    fit = fit_pairs([-0.02, 0.0, 0.02], ORDER)
    source = moderated(fit, NoisePrior("noise_floor", 0.04**2, 6))
    assert float(source.variance) == pytest.approx((6 * 0.04**2 + 2 * 0.02**2) / 8)
    assert source.df == 8


def test_cases_with_one_common_variance_give_a_strong_opinion_close_to_it() -> None:
    rng = np.random.default_rng(0)
    variances = (0.02**2 * rng.chisquare(5, 200) / 5).tolist()
    prior = prior_from_cases(variances, [5.0] * 200)
    assert prior is not None
    assert math.sqrt(prior.variance) == pytest.approx(0.02, rel=0.1)
    assert prior.df > 50


def test_cases_with_unlike_variances_give_a_weak_opinion() -> None:
    rng = np.random.default_rng(1)
    true_df = 4.0
    sigma2 = 0.02**2 * true_df / rng.chisquare(true_df, 500)
    variances = (sigma2 * rng.chisquare(5, 500) / 5).tolist()
    prior = prior_from_cases(variances, [5.0] * 500)
    assert prior is not None
    assert prior.df == pytest.approx(true_df, rel=0.3)
    assert math.sqrt(prior.variance) == pytest.approx(0.02, rel=0.15)


def test_two_cases_say_nothing_about_a_third() -> None:
    assert prior_from_cases([0.01, 0.02], [2, 2]) is None


def test_no_more_degrees_of_freedom_are_claimed_than_were_seen() -> None:
    spread = math.sqrt(trigamma(1.0) + 0.01)
    barely_unlike = prior_from_cases([0.01**2 * math.exp(x) for x in (-spread, 0.0, spread)], [2, 2, 2])
    alike = prior_from_cases([0.01**2] * 4, [2, 2, 2, 2])
    assert barely_unlike is not None
    assert alike is not None
    assert (barely_unlike.df, alike.df) == (6, 8)


@pytest.mark.parametrize("x", [0.05, 0.5, 1.0, 3.0, 40.0, 5000.0])
def test_the_inverse_of_trigamma_is_its_inverse(x: float) -> None:
    assert trigamma_inverse(trigamma(x)) == pytest.approx(x, rel=1e-6)
