from __future__ import annotations

import math

import numpy as np
import pytest

from envdyno.judge.paired_ratio import VarianceSource, fit_pairs
from envdyno.judge.resolution import MOST_PAIRS, detectable_log_ratio, more_pairs, smallest_change


def alternating(n: int) -> list[bool]:
    return [i % 2 == 1 for i in range(n)]


def test_the_advised_number_of_pairs_decides_about_four_of_five_experiments() -> None:
    sd, gate, truth = 0.03, math.log(0.9), math.log(0.93)
    pattern = sd * np.asarray([1, 1, -1, -1, 1, -1]) * math.sqrt(4 / 6)
    fit = fit_pairs(truth + pattern - pattern.mean(), alternating(6))
    more = more_pairs(fit, (), gate)
    assert more is not None
    from envdyno.judge.paired_ratio import upper_tail

    n = 6 + more
    spread = math.sqrt(float(fit.residual.variance))
    d = np.random.default_rng(0).normal(truth, spread, (20_000, n))
    decided = upper_tail(fit_pairs(d, alternating(n)), (), gate) <= 0.05
    assert float(decided.mean()) == pytest.approx(0.80, abs=0.05)


def test_a_ratio_on_the_gate_needs_more_pairs_than_anybody_runs() -> None:
    fit = fit_pairs([-0.1, 0.1, -0.1, 0.1], alternating(4))
    assert more_pairs(fit, (), float(fit.mean)) is None


def test_at_least_one_more_pair_is_advised_and_never_more_than_the_most() -> None:
    fit = fit_pairs([-0.01, 0.01, 0.0], alternating(3))
    assert more_pairs(fit, (), -10.0) == 1
    far = more_pairs(fit, (), -0.003)
    assert far is not None
    assert 1 < far <= MOST_PAIRS


def test_a_noisier_opinion_asks_for_more_pairs_and_shows_only_larger_changes() -> None:
    fit = fit_pairs([-0.01, 0.01, 0.0, 0.005], alternating(4))
    noisy = (VarianceSource("noise_floor", np.asarray(0.05**2), 9.0),)
    calm_more, noisy_more = more_pairs(fit, (), -0.02), more_pairs(fit, noisy, -0.02)
    assert calm_more is not None
    assert noisy_more is not None
    assert noisy_more > calm_more
    assert smallest_change(fit, noisy) > smallest_change(fit, ())


def test_one_pair_shows_no_change_at_all() -> None:
    with pytest.raises(ValueError, match="at least two pairs"):
        detectable_log_ratio(0.01, 1)
