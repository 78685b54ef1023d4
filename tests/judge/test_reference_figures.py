"""Published figures of real experiments, as data: what the judge says of them."""

from __future__ import annotations

import itertools
import math

import pytest
from experiments import NOISY_CASE, REFERENCE, TODAY, case_of, experiment, reference_experiment

from envdyno.judge.bundle_drift import Mover, control_moves
from envdyno.judge.estimate import RatioEstimate
from envdyno.judge.evidence import CaseEvidence, UnpairedSide
from envdyno.judge.gate import gate
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.unpaired import compare_unpaired
from envdyno.judge.verdicts import ExitCode, Verdict

RATIOS = (0.644, 0.542, 0.809, 0.599, 0.731, 0.651, 0.454)
VERSIONS = {
    1024: ((138_780, 131_699, 141_773), (82_537, 88_167, 89_607), (0.5947, 0.6695, 0.6320)),
    4096: ((209_773, 206_357, 209_957), (120_476, 120_949, 117_284), (0.5743, 0.5861, 0.5586)),
}
"""One package in two versions, three pairs AB BA AB: rates of both sides by pair, and the pairs' ratios."""


def test_all_seven_cases_fail_at_0_90() -> None:
    report = gate(reference_experiment(), GateRule(min_ratio=0.90), today=TODAY)
    assert [case.verdict for case in report.cases] == [Verdict.FAIL] * 7
    assert report.exit_code is ExitCode.GATE_FAILED


def test_each_case_has_its_published_ratio_of_medians() -> None:
    report = gate(reference_experiment(), GateRule(), today=TODAY)
    estimates = [case.estimate for case in report.cases if case.estimate is not None]
    assert [estimate.ratio_of_medians for estimate in estimates] == pytest.approx(RATIOS, abs=6e-4)


@pytest.mark.parametrize("pairing", list(itertools.permutations(range(3))))
def test_six_cases_fail_however_their_runs_are_paired_and_the_noisy_one_never_passes(
    pairing: tuple[int, int, int],
) -> None:
    report = gate(reference_experiment(pairing), GateRule(), today=TODAY)
    verdicts = {case.case: case.verdict for case in report.cases}
    noisy = verdicts.pop(NOISY_CASE)
    assert set(verdicts.values()) == {Verdict.FAIL}
    assert noisy in {Verdict.FAIL, Verdict.UNDECIDED}


@pytest.mark.parametrize("name", list(REFERENCE))
def test_every_case_fails_without_pairs_as_well(name: str) -> None:
    base, head = REFERENCE[name]
    sides = (
        UnpairedSide(name=side, rates=tuple(map(float, rates)), source="table")
        for side, rates in (("direct", base), ("manager", head))
    )
    outcome = compare_unpaired(*sides, GateRule()).outcome
    assert outcome is not None
    assert outcome.verdict is Verdict.FAIL


def test_a_table_of_ratios_as_unlike_as_these_is_no_one_sided_move() -> None:
    report = gate(reference_experiment(), GateRule(), today=TODAY)
    assert report.alarms == ()


def second_batch() -> CaseEvidence:
    """The noisy case again, all of it 30 % slower."""
    base, head = REFERENCE[NOISY_CASE]
    return case_of([0.7 * rate for rate in base], [0.7 * rate for rate in head], NOISY_CASE)


def test_the_noisy_case_is_found_to_drift_when_a_second_batch_is_added() -> None:
    base, head = REFERENCE[NOISY_CASE]
    both = case_of([*base, *(0.7 * r for r in base)], [*head, *(0.7 * r for r in head)], NOISY_CASE)
    (case,) = gate(experiment(both), GateRule(), today=TODAY).cases
    shift = next(alarm for alarm in case.alarms if alarm.code is ReasonCode.BATCH_SHIFT)
    assert shift.magnitude == pytest.approx(-0.30, abs=0.05)
    assert "in pair 4" in shift.message
    assert case.verdict is Verdict.FAIL


def test_between_the_two_batches_the_case_moved_and_no_commit_did_it() -> None:
    base, head = REFERENCE[NOISY_CASE]
    (move,) = control_moves(experiment(case_of(base, head, NOISY_CASE)), experiment(second_batch()))
    assert move.mover is Mover.CASE
    assert move.ratio == pytest.approx(0.7)


def version_estimate(num_envs: int) -> RatioEstimate:
    base, head, _ = VERSIONS[num_envs]
    estimate = gate(experiment(case_of(base, head)), GateRule(), today=TODAY).cases[0].estimate
    assert estimate is not None
    return estimate


@pytest.mark.parametrize("num_envs", list(VERSIONS))
def test_the_version_experiment_gives_its_published_pairwise_changes(num_envs: int) -> None:
    _, _, ratios = VERSIONS[num_envs]
    estimate = version_estimate(num_envs)
    assert estimate.pair_ratios == pytest.approx(ratios, abs=1e-4)
    assert estimate.median_ratio == pytest.approx(sorted(ratios)[1], abs=1e-4)
    assert estimate.ratio == pytest.approx(math.prod(ratios) ** (1 / 3), abs=1e-4)


@pytest.mark.parametrize("num_envs", list(VERSIONS))
def test_three_pairs_resolve_the_version_experiment(num_envs: int) -> None:
    base, head, _ = VERSIONS[num_envs]
    (case,) = gate(experiment(case_of(base, head)), GateRule(), today=TODAY).cases
    assert case.verdict is Verdict.FAIL
    assert case.more_pairs is None
    assert case.estimate is not None
    assert case.estimate.smallest_change is not None
    assert case.estimate.smallest_change < 1 - case.estimate.ratio
