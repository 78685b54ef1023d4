from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from fake_clock import FakeClock
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.stationarity import MINIMUM_POINTS
from envdyno.agent.measure.warmup import EXTRA_ROUNDS, Warmup, warm_up
from envdyno.agent.measure.window import Stepper


def warmed(durations_ns: Iterable[int], steps: int) -> tuple[Warmup, list[int]]:
    """Warm up with steps of these durations; return the outcome and what ``after_step`` was told."""
    clock = FakeClock()
    left = iter(durations_ns)

    def step(actions: Any) -> None:
        clock.advance(next(left))

    told: list[int] = []

    def after_step(taken: int) -> None:
        told.append(taken)
        clock.advance(10**9)  # what is looked at between steps is no part of them

    return warm_up(Stepper(step, [None], clock.ns), steps, after_step), told


@given(st.integers(1, 60))
def test_a_steady_workload_takes_one_round(steps: int) -> None:
    warmup, told = warmed([1_000_000] * steps, steps)
    assert (warmup.steps, warmup.rounds) == (steps, 1)
    assert warmup.seconds == pytest.approx(steps * 1e-3)
    assert warmup.steady is (True if steps >= MINIMUM_POINTS else None)
    assert told == list(range(1, steps + 1))


def test_a_workload_that_settles_is_warmed_up_until_it_has() -> None:
    settling = [1_000_000 * (100 - index) for index in range(30)] + [1_000_000] * 30
    warmup, _ = warmed(settling, 30)
    assert (warmup.rounds, warmup.steps, warmup.steady) == (2, 60, True)
    assert warmup.relative_change == 0
    assert warmup.seconds == pytest.approx(sum(settling) / 1e9)


def test_a_workload_that_never_settles_is_measured_with_a_flag() -> None:
    rounds = 1 + EXTRA_ROUNDS
    warmup, told = warmed([1_000_000 * (10 + index) for index in range(30 * rounds)], 30)
    assert (warmup.rounds, warmup.steps, warmup.steady) == (rounds, 30 * rounds, False)
    assert warmup.relative_change is not None
    assert warmup.relative_change > 0.05
    assert told == list(range(1, 30 * rounds + 1))


def test_no_warm_up_takes_no_step_and_claims_nothing() -> None:
    warmup, told = warmed([], 0)
    assert warmup == Warmup(0, 0, 0.0, None, None)
    assert told == []


def test_too_few_steps_to_tell_are_not_called_steady() -> None:
    warmup, _ = warmed([1000, 2000, 3000, 4000, 5000], 5)
    assert (warmup.steady, warmup.relative_change, warmup.rounds) == (None, None, 1)


def test_it_travels_as_plain_values() -> None:
    warmup, _ = warmed([1_000_000] * 8, 8)
    assert warmup.to_json() == {
        "steps": 8,
        "rounds": 1,
        "seconds": pytest.approx(0.008),
        "steady": True,
        "relative_change": 0.0,
    }
