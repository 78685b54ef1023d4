from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from experiments import TODAY, case_of, experiment, noisy_case
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge import drift
from envdyno.judge.bundle_drift import Mover, control_moves, welch_interval
from envdyno.judge.drift import DriftKind, machine_drift, position_effect, ratio_trend, regress
from envdyno.judge.evidence import CaseEvidence
from envdyno.judge.gate import gate
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.one_sided import common_move
from envdyno.judge.pairing import pairs_of
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.verdicts import Verdict


def shaped(
    factors: list[float], ratio: float = 1.0, sd: float = 0.003, seed: int = 0, **fields: Any
) -> CaseEvidence:
    """A case whose runs, in order of time, are multiplied by the factors."""
    noise = np.exp(np.random.default_rng(seed).normal(0, sd, len(factors)))
    base, head = [], []
    for pair in range(len(factors) // 2):
        first, second = (100_000 * factors[2 * pair + i] * noise[2 * pair + i] for i in (0, 1))
        ours, theirs = (second, first) if pair % 2 else (first, second)
        base.append(ours)
        head.append(theirs * ratio)
    return case_of(base, head, **fields)


def alarms(case: CaseEvidence) -> set[ReasonCode]:
    return {a.code for a in gate(experiment(case), GateRule(), today=TODAY).cases[0].alarms}


def test_a_batch_shift_is_found_with_its_size_and_place() -> None:
    drift = machine_drift(shaped([1.0] * 6 + [0.7] * 6))
    assert drift is not None
    assert drift.kind is DriftKind.SHIFT
    assert drift.is_alarming
    assert drift.change == pytest.approx(-0.3, abs=0.01)
    assert (drift.after_run, drift.at_pair) == (6, 3)


def test_a_batch_shift_is_neither_averaged_away_nor_taken_for_a_change() -> None:
    case = shaped([1.0] * 6 + [0.7] * 6, ratio=0.95)
    found = gate(experiment(case), GateRule(), today=TODAY).cases[0]
    assert found.verdict is Verdict.PASS
    assert found.estimate is not None
    assert found.estimate.ratio == pytest.approx(0.95, abs=0.005)
    shift = next(a for a in found.alarms if a.code is ReasonCode.BATCH_SHIFT)
    assert shift.magnitude == pytest.approx(-0.3, abs=0.01)
    assert "-30" in shift.message


def test_a_shift_inside_a_pair_widens_the_interval_instead_of_deciding_the_case() -> None:
    case = shaped([1.0] * 5 + [0.7] * 7, ratio=0.91)
    found = gate(experiment(case), GateRule(), today=TODAY).cases[0]
    assert found.verdict is Verdict.UNDECIDED
    assert ReasonCode.BATCH_SHIFT in alarms(case)


@pytest.mark.parametrize("pairs", [6, 12])
def test_a_drift_of_one_per_cent_a_run_is_flagged_and_leaves_the_ratio_within_half_a_per_cent(
    pairs: int,
) -> None:
    case = shaped([0.99**i for i in range(2 * pairs)])
    drift = machine_drift(case)
    assert drift is not None
    assert drift.kind is DriftKind.TREND
    assert drift.is_alarming
    estimate = gate(experiment(case), GateRule(), today=TODAY).cases[0].estimate
    assert estimate is not None
    assert estimate.ratio == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("ratio", [0.4, 1.0, 2.0])
def test_a_drift_is_found_beside_a_change_of_any_size(ratio: float) -> None:
    drift = machine_drift(shaped([0.99**i for i in range(12)], ratio))
    assert drift is not None
    assert drift.kind is DriftKind.TREND
    assert drift.change == pytest.approx(0.99**11 - 1, abs=0.01)


def test_looking_for_a_shift_in_many_places_finds_none_more_often() -> None:
    found = [machine_drift(noisy_case(1.0, 12, 0.05, seed)) for seed in range(200)]
    assert sum(drift is not None and drift.p < 0.05 for drift in found) <= 0.05 * 200 + 10


def test_a_penalty_on_the_first_run_of_each_pair_is_flagged_and_leaves_the_ratio() -> None:
    case = shaped([0.95, 1.0] * 6)
    assert ReasonCode.POSITION_EFFECT in alarms(case)
    effect = position_effect(pairs_of(case))
    assert effect is not None
    assert effect.change == pytest.approx(1 / 0.95 - 1, abs=0.01)
    estimate = gate(experiment(case), GateRule(), today=TODAY).cases[0].estimate
    assert estimate is not None
    assert estimate.ratio == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize(
    ("factors", "change"), [([1.0] * 6 + [0.7] * 6, -0.3), ([0.99**i for i in range(12)], -0.105)]
)
def test_how_the_canary_moved_is_told_beside_a_drift(factors: list[float], change: float) -> None:
    plain = shaped(factors)
    in_time = sorted(plain.runs, key=lambda r: r.started_at_s)
    runs = [dataclasses.replace(r, canary_per_s=f) for r, f in zip(in_time, factors, strict=True)]
    host, unknown = machine_drift(CaseEvidence(case="case", runs=tuple(runs))), machine_drift(plain)
    assert host is not None
    assert unknown is not None
    assert host.canary_change == pytest.approx(change, abs=0.005)
    assert unknown.canary_change is None


def test_a_ratio_that_moves_over_the_pairs_is_flagged() -> None:
    base = noisy_case(1.0, 8, sd=0.002)
    moved = [(r if r.side.value == "base" else _scaled(r, 0.97**r.pair)) for r in base.runs]
    case = CaseEvidence(case="case", runs=tuple(moved))
    found = ratio_trend(pairs_of(case))
    assert found is not None
    assert found.change == pytest.approx(0.97**7 - 1, abs=0.02)
    assert ReasonCode.RATIO_TREND in alarms(case)


def _scaled(sample: Any, factor: float) -> Any:
    return dataclasses.replace(sample, transitions_per_s=sample.transitions_per_s * factor)


def test_a_throttling_run_is_flagged_by_its_own_series() -> None:
    falling = tuple(np.linspace(100, 70, 20).tolist())
    assert ReasonCode.WITHIN_RUN_TREND in alarms(noisy_case(1.0, series_per_s=falling))
    assert ReasonCode.WITHIN_RUN_TREND not in alarms(noisy_case(1.0, series_per_s=(100.0,) * 20))


@pytest.mark.parametrize("sd", [0.005, 0.05])
def test_a_steady_machine_raises_few_alarms(sd: float) -> None:
    moving = {
        ReasonCode.BATCH_SHIFT,
        ReasonCode.MACHINE_TREND,
        ReasonCode.RATIO_TREND,
        ReasonCode.POSITION_EFFECT,
    }
    flagged = sum(bool(alarms(noisy_case(1.0, 6, sd, seed)) & moving) for seed in range(100))
    assert flagged <= 8


def test_fewer_than_six_runs_say_nothing_about_drift() -> None:
    assert machine_drift(noisy_case(1.0, pairs=2)) is None
    assert ratio_trend(pairs_of(noisy_case(1.0, pairs=3))) is None


def test_the_same_software_slower_with_the_canary_is_the_host() -> None:
    earlier = noisy_case(0.9, canary_per_s=100.0)
    later = case_of([60_000, 60_100, 59_900], [54_000] * 3, canary_per_s=60.0)
    (move,) = control_moves(experiment(earlier), experiment(later))
    assert move.mover is Mover.HOST
    alarm = move.alarm()
    assert alarm is not None
    assert alarm.code is ReasonCode.HOST_MOVED
    assert alarm.magnitude == pytest.approx(-0.4, abs=0.01)


@pytest.mark.parametrize("canary", [None, 100.0, 140.0])
def test_the_same_software_slower_without_the_canary_is_the_case(canary: float | None) -> None:
    earlier = noisy_case(0.9, canary_per_s=100.0)
    later = case_of([60_000, 60_100, 59_900], [54_000] * 3, canary_per_s=canary)
    (move,) = control_moves(experiment(earlier), experiment(later))
    assert move.mover is Mover.CASE


def test_the_same_software_as_fast_as_before_has_not_moved() -> None:
    (move,) = control_moves(experiment(noisy_case(0.9)), experiment(noisy_case(0.8, seed=1)))
    assert move.mover is Mover.NOTHING
    assert move.alarm() is None


def test_a_single_earlier_run_cannot_show_a_move() -> None:
    (move,) = control_moves(experiment(noisy_case(1.0, pairs=1)), experiment(case_of([50.0] * 3, [50.0] * 3)))
    assert move.mover is Mover.UNKNOWN
    assert move.interval is None


def test_drift_between_machines_is_no_question() -> None:
    with pytest.raises(ValueError, match="a question about one machine"):
        control_moves(experiment(noisy_case(1.0)), experiment(noisy_case(1.0), machine="machine-2"))


def test_welchs_interval_is_scipys() -> None:
    import scipy.stats

    x, y = np.asarray([1.0, 2.0, 4.0]), np.asarray([5.0, 5.5, 7.0, 9.0])
    expected = scipy.stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    assert welch_interval(x, y, 0.025) == pytest.approx((expected.low, expected.high))


def test_all_cases_moving_alike_is_called_one_sided() -> None:
    cases = [noisy_case(0.93, sd=0.003, seed=i, name=f"c{i}") for i in range(4)]
    report = gate(experiment(*cases), GateRule(), today=TODAY)
    alarm = next(a for a in report.alarms if a.code is ReasonCode.ONE_SIDED)
    assert alarm.magnitude == pytest.approx(-0.07, abs=0.005)


@pytest.mark.parametrize(
    "moves",
    [
        [-0.44, -0.61, -0.21, -0.51, -0.31, -0.43, -0.79],
        [0.001, -0.002, 0.0],
        [-0.1, -0.1],
        [-0.1, -0.1, 0.1],
        [-0.005, -0.005, -0.005],
    ],
)
def test_unlike_or_small_moves_are_not_one_sided(moves: list[float]) -> None:
    assert common_move(moves, [0.001] * len(moves)) is None


@given(st.integers(0, 2**32), st.integers(4, 40), st.floats(0.1, 0.9))
def test_all_places_of_a_step_at_once_explain_what_each_explains_by_itself(
    seed: int, runs: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=runs).cumsum()
    side = (rng.random(runs) < share).astype(float)
    found = drift._explained_by_steps(y, side)
    without = regress(y, [side]) if 0 < side.sum() < runs else None
    for k in range(2, runs - 1):
        step = regress(y, [side, (np.arange(runs) >= k).astype(float)])
        assert (step is None) == (k not in found)
        if step is not None:
            assert without is not None
            assert found[k] == pytest.approx(without.residual - step.residual, rel=1e-6, abs=1e-9)
