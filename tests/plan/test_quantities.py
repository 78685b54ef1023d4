"""Durations and numbers of pairs, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.plan.quantities import (
    PairRange,
    format_duration,
    parse_duration,
    parse_pairs,
    parse_positive_duration,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20m", 1200),
        ("2min", 120),
        ("1h30m", 5400),
        ("1h 30min 5s", 5405),
        ("1s500ms", 1.5),
        ("90s", 90),
        ("90", 90),
        (90, 90),
        (0.5, 0.5),
        (1e-7, 1e-7),
        ("500ms", 0.5),
        (".5s", 0.5),
        ("5.s", 5),
        (" 1.5 s ", 1.5),
        ("1.5H", 5400),
        ("0s", 0),
        (0, 0),
    ],
)
def test_durations_are_read(text: object, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "m",
        "s",
        ".s",
        "1d",
        "20 minutes",
        "-5s",
        "-5",
        -5,
        True,
        None,
        "1h x",
        "1e9h?",
        "1e3s",
        "1 0s",
        "1s2s",
        "30s1m",
        "nan",
        "inf",
        float("nan"),
        float("inf"),
        10**400,
        "9" * 400,
        "9" * 400 + "h",
        "0x10",
        "1_000",
        "1,5s",
        "\N{ARABIC-INDIC DIGIT ONE}s",
        "\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_what_is_no_duration_is_refused(text: object) -> None:
    for read in (parse_duration, parse_positive_duration):
        with pytest.raises(ValueError, match=r"no length of time.*1h30m"):
            read(text)


@pytest.mark.parametrize("text", ["0s", "0", 0, 0.0, "0h0m"])
def test_nothing_is_a_duration_but_not_where_it_has_to_be_longer(text: object) -> None:
    assert parse_duration(text) == 0
    with pytest.raises(ValueError, match=r"no length of time; write more than 0"):
        parse_positive_duration(text)


@given(st.text(max_size=12))
def test_any_text_is_a_finite_duration_or_refused(text: str) -> None:
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert 0 <= seconds < float("inf")


@given(st.floats(0, 1e12))
def test_a_number_is_that_many_seconds(seconds: float) -> None:
    assert parse_duration(seconds) == seconds


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
