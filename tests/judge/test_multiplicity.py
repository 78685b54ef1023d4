from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.multiplicity import holm

p_values = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


def test_the_smallest_of_four_is_multiplied_by_four_and_the_next_by_three() -> None:
    assert holm([0.03, 0.01, 0.04, 0.005]) == pytest.approx((0.06, 0.03, 0.06, 0.02))


def test_a_single_case_is_not_corrected() -> None:
    assert holm([0.04]) == (0.04,)


def test_no_case_at_all_needs_no_correction() -> None:
    assert holm([]) == ()


@given(p_values)
def test_a_correction_lies_between_none_and_bonferronis(p: list[float]) -> None:
    for ours, theirs in zip(p, holm(p), strict=True):
        assert ours <= theirs <= min(1.0, len(p) * ours) + 1e-12


@given(p_values)
def test_the_order_of_cases_does_not_matter(p: list[float]) -> None:
    assert holm(p[::-1]) == holm(p)[::-1]


@given(p_values, st.integers(0, 11), st.floats(0.0, 1.0))
def test_better_evidence_in_one_case_never_weakens_another(p: list[float], i: int, factor: float) -> None:
    better = list(p)
    better[i % len(p)] *= factor
    assert all(new <= old for new, old in zip(holm(better), holm(p), strict=True))
