"""How a window is cut into stretches, and what is told between them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.pulse import GROWTH, PULSE_NS, Pulse


def stretches(pulse: Pulse, step_ns: int, until_ns: int, most: int = 1 << 16) -> list[int]:
    """Step at an even pace; return how many steps were taken at a stretch."""
    taken, now = [], 0
    while now < until_ns:
        steps = pulse.stretch(most)
        now += steps * step_ns
        pulse.beat(steps, now)
        taken.append(steps)
    return taken


@given(st.integers(1, 2 * PULSE_NS))
def test_the_rate_is_told_about_twice_a_second_at_any_pace(step_ns: int) -> None:
    told: list[float] = []
    taken = stretches(Pulse(told.append, 0), step_ns, 20 * PULSE_NS, most=1 << 40)
    passed = sum(taken) * step_ns
    assert all(rate == pytest.approx(1e9 / step_ns) for rate in told)
    assert passed / (2 * max(PULSE_NS, step_ns)) - 2 <= len(told) <= passed / PULSE_NS
    # However short a step is, the loop is interrupted a few times a second only.
    assert len(taken) <= 3 * passed / PULSE_NS + 10


@given(st.integers(1, 1 << 16), st.integers(1, 10**9))
def test_a_stretch_is_never_empty_and_never_longer_than_allowed(most: int, step_ns: int) -> None:
    pulse = Pulse(lambda _rate: None, 0)
    taken = stretches(pulse, step_ns, 3 * PULSE_NS, most=most) if step_ns * most > 10_000 else [1]
    assert all(1 <= steps <= most for steps in taken)
    assert all(later <= GROWTH * earlier for earlier, later in itertools.pairwise(taken))


def test_the_rate_is_that_of_the_last_stretch_and_not_of_the_whole_window() -> None:
    told: list[float] = []
    pulse = Pulse(told.append, 0)
    pulse.beat(100, PULSE_NS)
    pulse.beat(50, 2 * PULSE_NS)
    assert told == [200.0, 100.0]
