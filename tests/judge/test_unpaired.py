from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.evidence import UnpairedSide
from envdyno.judge.gate_rule import GateRule, Rule
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.unpaired import Direction, UnpairedComparison, compare_unpaired
from envdyno.judge.verdicts import Verdict


def side(rates: list[float], name: str = "side", **fields: Any) -> UnpairedSide:
    return UnpairedSide(name=name, rates=tuple(rates), source="hyperfine", **fields)


def normal(ratio: float, n: int = 10, sd: float = 0.01, seed: int = 0) -> UnpairedSide:
    return side((ratio * np.exp(np.random.default_rng(seed).normal(0, sd, n))).tolist())


def compare(base: UnpairedSide, head: UnpairedSide, *args: Any, **fields: Any) -> UnpairedComparison:
    return compare_unpaired(base, head, *args, **fields)


def test_every_unpaired_result_is_labelled() -> None:
    found = compare(normal(1.0), normal(0.8, seed=1))
    assert [alarm.code for alarm in found.alarms] == [ReasonCode.UNPAIRED]
    assert "unpaired" in found.method


@pytest.mark.parametrize(
    ("ratio", "direction"), [(0.8, Direction.SLOWER), (1.2, Direction.FASTER), (1.0, Direction.UNCLEAR)]
)
def test_a_difference_has_its_direction_and_its_size(ratio: float, direction: Direction) -> None:
    found = compare(normal(1.0), normal(ratio, seed=7))
    assert found.direction is direction
    assert found.ratio == pytest.approx(ratio, abs=0.02)
    assert found.interval is not None
    assert found.interval.low < ratio < found.interval.high


@pytest.mark.parametrize(
    ("ratio", "verdict", "code"),
    [
        (1.0, Verdict.PASS, ReasonCode.LOWER_BOUND_MEETS_GATE),
        (0.8, Verdict.FAIL, ReasonCode.UPPER_BOUND_BELOW_GATE),
        (0.9, Verdict.UNDECIDED, ReasonCode.INTERVAL_SPANS_GATE),
    ],
)
def test_a_gate_judges_unpaired_sides_by_ranks(ratio: float, verdict: Verdict, code: ReasonCode) -> None:
    outcome = compare(normal(1.0), normal(ratio, seed=3), GateRule()).outcome
    assert outcome is not None
    assert (outcome.verdict, outcome.code) in {(verdict, code), (verdict, ReasonCode.ESTIMATORS_DISAGREE)}


def test_two_clusters_whose_medians_and_means_disagree_have_no_direction() -> None:
    base, head = side([90.0] * 10 + [100.0] * 11), side([96.0] * 11 + [110.0] * 10)
    found = compare(base, head, GateRule(min_ratio=1.0))
    assert found.ratio_of_medians == pytest.approx(0.96)
    assert found.ratio_of_means is not None
    assert found.ratio_of_means > 1.05
    assert found.direction is Direction.UNCLEAR
    assert found.outcome is not None
    assert found.outcome.code is ReasonCode.ESTIMATORS_DISAGREE


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_figures_on_a_side_decide_nothing(n: int) -> None:
    outcome = compare(normal(1.0, 10), normal(0.3, n), GateRule()).outcome
    assert outcome is not None
    assert (outcome.verdict, outcome.code) == (Verdict.UNDECIDED, ReasonCode.TOO_FEW_PAIRS)


def test_three_figures_on_each_side_can_decide() -> None:
    outcome = compare(normal(1.0, 3), normal(0.5, 3), GateRule()).outcome
    assert outcome is not None
    assert outcome.verdict is Verdict.FAIL


def test_a_side_without_figures_says_what_would_have_kept_them() -> None:
    empty = side([], why_empty="save it with --benchmark-save-data.")
    found = compare(empty, normal(1.0))
    assert found.outcome is not None
    assert found.outcome == (
        Verdict.NOT_MEASURED,
        ReasonCode.NO_SAMPLES,
        "save it with --benchmark-save-data.",
    )
    assert found.ratio is found.mann_whitney_p is None


def test_a_side_with_failed_runs_does_not_pass_on_the_others() -> None:
    outcome = compare(normal(1.0), side([1.0] * 9, failed=1), GateRule()).outcome
    assert outcome is not None
    assert (outcome.verdict, outcome.code) == (Verdict.NOT_MEASURED, ReasonCode.RUN_FAILED)


def test_figures_from_another_processor_are_incomparable_and_have_no_ratio() -> None:
    base, head = (side([1.0] * 6, identity={"cpu_model": model}) for model in ("A", "B"))
    found = compare(base, head, GateRule())
    assert found.outcome is not None
    assert found.outcome.code is ReasonCode.IDENTITY_DIFFERS
    assert "cpu_model: A | B" in found.outcome.message
    assert found.ratio is None


def test_a_forced_comparison_is_labelled_and_has_no_verdict_of_a_gate() -> None:
    base, head = (side([1.0] * 6, identity={"cpu_model": model}) for model in ("A", "B"))
    found = compare(base, head, GateRule(), force=True)
    assert found.ratio == 1.0
    assert found.outcome is not None
    assert found.outcome.verdict is Verdict.INCOMPARABLE
    assert ReasonCode.FORCED in {alarm.code for alarm in found.alarms}


def test_the_age_of_the_baseline_is_told() -> None:
    found = compare(side([1.0] * 3, measured_at_s=1_000.0), side([1.0] * 3, measured_at_s=87_400.0))
    assert found.baseline_age_s == 86_400.0
    assert compare(side([1.0] * 3), side([1.0] * 3, measured_at_s=5.0)).baseline_age_s is None


@pytest.mark.parametrize(("rate", "verdict"), [(0.9, Verdict.PASS), (0.8999, Verdict.FAIL)])
def test_the_plain_rule_compares_medians(rate: float, verdict: Verdict) -> None:
    outcome = compare(side([1.0] * 3), side([rate] * 3), GateRule(rule=Rule.POINT)).outcome
    assert outcome is not None
    assert outcome.verdict is verdict


def test_false_verdicts_at_the_edge_stay_within_five_per_cent() -> None:
    rng = np.random.default_rng(5)
    rates = np.exp(rng.standard_t(3, (600, 2, 6)) * 0.02)
    found = [compare(side(b.tolist()), side((0.9 * h).tolist()), GateRule()).outcome for b, h in rates]
    for verdict in (Verdict.PASS, Verdict.FAIL):
        assert sum(o is not None and o.verdict is verdict for o in found) <= 0.05 * 600 + 16


rates = st.lists(st.floats(1.0, 100.0), min_size=4, max_size=12)


@given(rates, rates)
def test_swapping_sides_inverts_the_ratio(base: list[float], head: list[float]) -> None:
    ours, theirs = compare(side(base), side(head)), compare(side(head), side(base))
    assert ours.ratio is not None
    assert ours.ratio * (theirs.ratio or 0) == pytest.approx(1.0)
    assert ours.mann_whitney_p == pytest.approx(theirs.mann_whitney_p)
    if ours.interval is not None and theirs.interval is not None:
        assert ours.interval.low * theirs.interval.high == pytest.approx(1.0)


@given(rates, rates, st.floats(0.01, 100.0))
def test_scaling_both_sides_leaves_the_ratio(base: list[float], head: list[float], factor: float) -> None:
    ours = compare(side(base), side(head))
    theirs = compare(side([r * factor for r in base]), side([r * factor for r in head]))
    assert theirs.ratio == pytest.approx(ours.ratio)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_that_is_no_speed_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        side([1.0, rate])
