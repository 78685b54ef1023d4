"""How much facts of the work may differ before it is said: 1 %, or what the plan says."""

from __future__ import annotations

import pytest

from envdyno.judge.evidence import CaseEvidence, RunSample, Side
from envdyno.judge.work import compare_work


def case_of(base: float, head: float, tolerances: dict[str, float]) -> CaseEvidence:
    """One pair of runs whose mean rewards are given."""
    runs = tuple(
        RunSample(
            case="case",
            side=side,
            pair=0,
            position=position,
            started_at_s=float(position),
            transitions_per_s=100.0,
            work={"reward_mean": reward},
        )
        for position, (side, reward) in enumerate(((Side.BASE, base), (Side.HEAD, head)))
    )
    return CaseEvidence(case="case", runs=runs, tolerances=tolerances)


@pytest.mark.parametrize(
    ("tolerances", "told"), [({}, True), ({"reward_mean": 0.05}, False), ({"reward_mean": 0.01}, True)]
)
def test_a_difference_is_told_beyond_the_plans_tolerance(tolerances: dict[str, float], told: bool) -> None:
    differences = compare_work(case_of(1.0, 1.03, tolerances)).differences
    assert [difference.name for difference in differences] == ["reward_mean"] * told


def test_a_tolerance_of_another_fact_changes_nothing() -> None:
    assert compare_work(case_of(1.0, 1.03, {"dispatches_per_step": 0.5})).differences


def test_a_difference_of_exactly_the_tolerance_is_none() -> None:
    assert not compare_work(case_of(1.0, 0.75, {"reward_mean": 0.25})).differences
