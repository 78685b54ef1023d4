"""How much facts of the work may differ before it is said: 1 %, or what the plan says."""

from __future__ import annotations

import pytest

from envdyno.judge.evidence import CaseEvidence, RunSample, Side
from envdyno.judge.work import WorkClass, compare_work


def case_of(
    base: float, head: float, tolerances: dict[str, float], fact: str = "reward_mean"
) -> CaseEvidence:
    """One pair of runs of which one fact is given, the mean reward if no other is named."""
    runs = tuple(
        RunSample(
            case="case",
            side=side,
            pair=0,
            position=position,
            started_at_s=float(position),
            transitions_per_s=100.0,
            work={fact: value},
        )
        for position, (side, value) in enumerate(((Side.BASE, base), (Side.HEAD, head)))
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


@pytest.mark.parametrize(
    ("head", "tolerances", "told"),
    [(4.1, {}, False), (4.4, {}, True), (4.4, {"contacts_per_row": 0.2}, False)],
)
def test_contacts_are_called_different_beyond_five_per_cent_and_never_break_a_comparison(
    head: float, tolerances: dict[str, float], told: bool
) -> None:
    compared = compare_work(case_of(4.0, head, tolerances, "contacts_per_row"))
    assert [found.name for found in compared.of_class(WorkClass.TO_READ)] == ["contacts_per_row"] * told
    assert not compared.of_class(WorkClass.BREAKS)


def test_contacts_that_vary_as_much_from_run_to_run_as_between_the_sides_are_no_difference() -> None:
    far, near = (case_of(4.0, head, {}, "contacts_per_row") for head in (5.0, 3.9))
    both = CaseEvidence(case="case", runs=(*far.runs, *near.runs))
    assert compare_work(far).differences
    assert not compare_work(both).differences
