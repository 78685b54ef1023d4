"""Durations and numbers of pairs, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.plan.quantities import PairRange, format_duration, parse_duration, parse_pairs


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20m", 1200),
        ("1h30m", 5400),
        ("90s", 90),
        ("90", 90),
        (90, 90),
        (0.5, 0.5),
        ("500ms", 0.5),
        ("1.5H", 5400),
    ],
)
def test_durations_are_read(text: object, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "20 minutes", "-5s", 0, "0s", True, "1h x", "1e9h?", None, float("inf")]
)
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"no length of time"):
        parse_duration(text)


@given(st.integers(1, 10_000_000))
def test_a_written_duration_is_close_to_what_it_stands_for(seconds: int) -> None:
    written = format_duration(seconds).replace(" ", "").replace("min", "m")
    assert abs(parse_duration(written) - seconds) < max(60, seconds / 60)


@pytest.mark.parametrize(
    ("text", "pairs"), [("3..12", (3, 12)), ("6", (6, 6)), (6, (6, 6)), ("3 .. 4", (3, 4))]
)
def test_pairs_are_read(text: object, pairs: tuple[int, int]) -> None:
    assert parse_pairs(text) == PairRange(*pairs)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("12..3", "ends before it begins"),
        (2, "at least 3"),
        ("1..5", "at least 3"),
        ("3...5", "no number of pairs"),
        (True, "no number of pairs"),
        (3.5, "no number of pairs"),
        ("-3", "no number of pairs"),
        ("3..100000", "more than the 1000"),
    ],
)
def test_what_is_no_number_of_pairs_is_refused(text: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_pairs(text)


@given(st.integers(3, 1000), st.integers(0, 100))
def test_pairs_are_written_as_they_are_read(minimum: int, more: int) -> None:
    pairs = PairRange(minimum, min(minimum + more, 1000))
    assert parse_pairs(str(pairs)) == pairs
