from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.looks import Look, LookSchedule


def test_three_to_twelve_pairs_are_looked_at_seven_times() -> None:
    assert [look.pairs for look in LookSchedule.adaptive(3, 12).looks] == [3, 4, 5, 6, 8, 10, 12]


def test_most_of_the_error_is_spent_at_six_pairs() -> None:
    shares = {look.pairs: look.share for look in LookSchedule.adaptive(3, 12).looks}
    assert shares[6] == pytest.approx(0.55)
    assert shares[3] + shares[4] + shares[5] == pytest.approx(0.20)
    assert shares[8] == shares[10] == shares[12] == pytest.approx(0.25 / 3)


def test_a_fixed_number_of_pairs_is_one_look_with_the_whole_error() -> None:
    assert LookSchedule.once(6).looks == (Look(6, 1.0),)


@given(st.integers(2, 20), st.integers(0, 40))
def test_every_schedule_spends_the_error_once_and_ends_at_its_maximum(minimum: int, more: int) -> None:
    schedule = LookSchedule.adaptive(minimum, minimum + more)
    assert sum(look.share for look in schedule.looks) == pytest.approx(1.0)
    assert (schedule.minimum, schedule.maximum) == (minimum, minimum + more)
    if minimum <= 6 <= minimum + more:
        assert 6 in [look.pairs for look in schedule.looks]


def test_only_looks_that_the_pairs_allow_are_reached() -> None:
    schedule = LookSchedule.adaptive(3, 12)
    assert [look.pairs for look in schedule.reached(7)] == [3, 4, 5, 6]
    assert schedule.reached(2) == ()
    following = schedule.next_after(6)
    assert following is not None
    assert following.pairs == 8
    assert schedule.next_after(12) is None


@pytest.mark.parametrize(("minimum", "maximum"), [(1, 6), (6, 5), (0, 0)])
def test_a_range_that_is_none_is_refused(minimum: int, maximum: int) -> None:
    with pytest.raises(ValueError, match="no range"):
        LookSchedule.adaptive(minimum, maximum)


@pytest.mark.parametrize(
    "looks", [(), (Look(3, 0.5), Look(3, 0.5)), (Look(6, 0.5), Look(3, 0.5)), (Look(3, 0.7), Look(6, 0.7))]
)
def test_looks_that_are_out_of_order_or_spend_too_much_are_refused(looks: tuple[Look, ...]) -> None:
    with pytest.raises(ValueError, match=r"Looks need|shares"):
        LookSchedule(looks)
