from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from experiments import TODAY, case_of, experiment, noisy_case, run
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, RunOrder, RunSample, Side
from envdyno.judge.gate import GateReport, confirm, gate
from envdyno.judge.gate_rule import GateRule, Rule
from envdyno.judge.looks import LookSchedule
from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.sequence import shows_below, shows_meets
from envdyno.judge.verdicts import ExitCode, Verdict


def judge(*cases: CaseEvidence, rule: GateRule | None = None, **fields: Any) -> GateReport:
    return gate(experiment(*cases), rule or GateRule(), today=TODAY, **fields)


def verdict(*cases: CaseEvidence, rule: GateRule | None = None, **fields: Any) -> CaseVerdict:
    return judge(*cases, rule=rule, **fields).cases[0]


def floor(sd: float, case: str = "case", machine: str = "machine-1") -> NoiseFloors:
    return NoiseFloors(
        (
            NoiseFloor(
                machine=machine,
                case=case,
                pairs=6,
                sd_log_ratio=sd,
                df=4,
                bias_log_ratio=0.0,
                bias_half_width=0.01,
            ),
        )
    )


def test_equal_sides_pass() -> None:
    case = verdict(noisy_case(1.0))
    assert (case.verdict, case.code) == (Verdict.PASS, ReasonCode.LOWER_BOUND_MEETS_GATE)


def test_a_clear_loss_fails_at_three_pairs() -> None:
    report = judge(noisy_case(0.64, pairs=3, sd=0.005))
    assert report.cases[0].code is ReasonCode.UPPER_BOUND_BELOW_GATE
    assert report.exit_code is ExitCode.GATE_FAILED


def test_a_gain_never_fails() -> None:
    assert verdict(noisy_case(1.3)).verdict is Verdict.PASS


def test_a_ratio_near_the_gate_is_undecided_and_says_how_many_pairs_more() -> None:
    case = verdict(noisy_case(0.93, sd=0.04, seed=5))
    assert (case.verdict, case.code) == (Verdict.UNDECIDED, ReasonCode.INTERVAL_SPANS_GATE)
    assert case.more_pairs is not None
    assert f"about {case.more_pairs} more pair" in case.message


def test_noise_too_large_for_the_question_is_a_named_outcome_with_the_number() -> None:
    case = verdict(noisy_case(0.97, pairs=3, sd=0.08, seed=1))
    assert (case.verdict, case.code) == (Verdict.UNDECIDED, ReasonCode.NOISE_TOO_LARGE)
    assert "hides changes below" in case.message
    assert "the gate asks about 10.0%" in case.message


def test_the_ratio_in_cpu_time_stands_beside_the_headline() -> None:
    per_cpu_s = {Side.BASE: 500.0, Side.HEAD: 450.0}
    runs = [dataclasses.replace(r, transitions_per_cpu_s=per_cpu_s[r.side]) for r in noisy_case(0.7).runs]
    case = verdict(CaseEvidence(case="case", runs=tuple(runs)))
    assert case.cpu_estimate is not None
    assert case.cpu_estimate.ratio == pytest.approx(0.9)
    assert verdict(noisy_case(0.7)).cpu_estimate is None


def test_a_verdict_names_the_noise_floor_that_it_knew() -> None:
    known = floor(0.02)
    assert verdict(noisy_case(1.0), floors=known).noise_floor == known.floors[0]
    assert verdict(noisy_case(1.0)).noise_floor is None


def test_a_ratio_on_the_gate_asks_for_no_impossible_number_of_pairs() -> None:
    d = np.asarray([0.02, -0.02, 0.02, -0.02, 0.02, -0.02]) * [1, 1, -1, -1, 1, 1]
    case = verdict(case_of([100.0] * 6, (90.0 * np.exp(d - d.mean())).tolist()))
    assert (case.code, case.more_pairs) == (ReasonCode.RATIO_AT_GATE, None)


@pytest.mark.parametrize("pairs", [1, 2])
def test_fewer_than_three_pairs_decide_nothing_however_clear(pairs: int) -> None:
    case = verdict(noisy_case(0.3, pairs=pairs, sd=0.0001))
    assert (case.verdict, case.code) == (Verdict.UNDECIDED, ReasonCode.TOO_FEW_PAIRS)
    assert case.estimate is not None
    assert case.estimate.ratio == pytest.approx(0.3, rel=0.01)


def test_one_pair_has_a_ratio_and_no_interval_and_says_why() -> None:
    estimate = verdict(noisy_case(0.5, pairs=1)).estimate
    assert estimate is not None
    assert estimate.interval is estimate.smallest_change is None
    assert estimate.why_null["interval"] == "one pair has no spread"


def test_among_many_cases_one_small_p_value_is_chance() -> None:
    near = noisy_case(0.86, pairs=6, sd=0.03, seed=0, name="near")
    alone = verdict(near)
    others = [noisy_case(1.0, sd=0.03, seed=i, name=f"other-{i}") for i in range(10, 19)]
    among_many = judge(near, *others).cases[0]
    assert (alone.verdict, among_many.verdict) == (Verdict.FAIL, Verdict.UNDECIDED)
    assert among_many.code is ReasonCode.NOT_AFTER_CORRECTION


def test_a_floor_above_the_gates_margin_refuses_the_gate_with_the_number() -> None:
    case = verdict(noisy_case(1.0), rule=GateRule(min_ratio=0.99), floors=floor(0.02))
    assert (case.verdict, case.code) == (Verdict.UNDECIDED, ReasonCode.GATE_TIGHTER_THAN_NOISE)
    assert "a change of 1.0%" in case.message
    assert "is 2.5%" in case.message


def test_a_refused_gate_still_shows_a_loss_that_is_plain() -> None:
    assert verdict(noisy_case(0.5), rule=GateRule(min_ratio=0.99), floors=floor(0.02)).verdict is Verdict.FAIL


@pytest.mark.parametrize("other", [{"machine": "machine-2"}, {"case": "another"}])
def test_the_floor_of_another_machine_or_case_counts_for_nothing(other: dict[str, str]) -> None:
    rule = GateRule(min_ratio=0.97)
    assert verdict(noisy_case(1.0), rule=rule, floors=floor(0.5, **other)).verdict is Verdict.PASS


def test_a_lucky_small_spread_is_not_believed_against_the_machines_noise_floor() -> None:
    lucky = noisy_case(0.88, pairs=3, sd=0.0003)
    believed, doubted = verdict(lucky), verdict(lucky, floors=floor(0.03))
    assert (believed.verdict, doubted.verdict) == (Verdict.FAIL, Verdict.UNDECIDED)
    assert doubted.estimate is not None
    assert doubted.estimate.limited_by == "noise_floor"


def test_a_lucky_small_spread_is_not_believed_against_the_canary() -> None:
    lucky = noisy_case(0.88, pairs=3, sd=0.0003)
    canaries = iter([100, 104, 101, 97, 96, 100])
    runs = tuple(dataclasses.replace(r, canary_per_s=float(next(canaries))) for r in lucky.runs)
    case = verdict(CaseEvidence(case="case", runs=runs))
    assert case.verdict is Verdict.UNDECIDED
    assert case.estimate is not None
    assert case.estimate.limited_by == "canary"


def test_a_lucky_small_spread_is_not_believed_against_noisy_neighbours() -> None:
    lucky = noisy_case(0.88, pairs=3, sd=0.003)
    assert verdict(lucky).verdict is Verdict.FAIL
    neighbours = [noisy_case(1.0, pairs=6, sd=0.03, seed=i, name=f"n{i}") for i in range(8)]
    case = judge(lucky, *neighbours).cases[0]
    assert case.verdict is Verdict.UNDECIDED
    assert case.estimate is not None
    assert case.estimate.limited_by == "other_cases"


def test_a_window_of_ten_vector_steps_resolves_no_half_per_cent() -> None:
    exact = case_of([100.0] * 3, [89.5] * 3)
    coarse = case_of([100.0] * 3, [89.5] * 3, edge_share=0.1)
    assert (verdict(exact).verdict, verdict(coarse).verdict) == (Verdict.FAIL, Verdict.UNDECIDED)


def test_the_plain_rule_goes_by_the_median_and_says_so() -> None:
    rates = case_of([100.0] * 3, [89.0, 91.0, 60.0])
    report = judge(rates, rule=GateRule(rule=Rule.POINT))
    assert (report.cases[0].verdict, report.cases[0].code) == (Verdict.FAIL, ReasonCode.MEDIAN_BELOW_GATE)
    assert [alarm.code for alarm in report.alarms] == [ReasonCode.POINT_RULE]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (90.0, Verdict.PASS),
        (math.nextafter(90.0, 0), Verdict.FAIL),
        (math.nextafter(90.0, 100), Verdict.PASS),
    ],
)
def test_the_plain_rule_passes_exactly_at_the_gate(head: float, expected: Verdict) -> None:
    assert verdict(case_of([100.0] * 3, [head] * 3), rule=GateRule(rule=Rule.POINT)).verdict is expected


@pytest.mark.parametrize(
    ("p", "meets", "below"), [(0.049, True, True), (0.05, True, False), (0.051, False, False)]
)
def test_a_bound_on_the_gate_meets_it_and_is_not_below_it(p: float, meets: bool, below: bool) -> None:
    assert (bool(shows_meets(p, 0.05)), bool(shows_below(p, 0.05))) == (meets, below)


@pytest.mark.parametrize("ratio", [0.80, 0.85, 0.89, 0.90, 0.905, 0.92, 0.97, 1.1])
@pytest.mark.parametrize("pairs", [3, 4, 6, 7])
def test_the_verdict_is_what_the_shown_bounds_say(ratio: float, pairs: int) -> None:
    for seed in range(6):
        case = verdict(noisy_case(ratio, pairs, sd=0.015, seed=seed))
        bounds = case.estimate.gate_bounds if case.estimate else None
        assert bounds is not None
        expected = (
            Verdict.PASS if bounds.low >= 0.9 else Verdict.FAIL if bounds.high < 0.9 else Verdict.UNDECIDED
        )
        assert case.verdict is expected


@pytest.mark.parametrize(("many", "few"), [(0.896, 1.05), (0.904, 0.78)])
def test_estimates_that_disagree_about_the_gate_decide_nothing(many: float, few: float) -> None:
    head = [100 * many] * 11 + [100 * few] * 10
    case = verdict(case_of([100.0] * 21, head))
    assert (case.verdict, case.code) == (Verdict.UNDECIDED, ReasonCode.ESTIMATORS_DISAGREE)


def test_an_implausible_gain_is_not_believed_until_the_work_is_shown_to_be_the_same() -> None:
    silent, same = noisy_case(3.0), noisy_case(3.0, work={"observation_hash": "abc"})
    doubted = verdict(silent)
    assert (doubted.verdict, doubted.code) == (Verdict.INCOMPARABLE, ReasonCode.IMPLAUSIBLE_GAIN)
    assert verdict(same).verdict is Verdict.PASS


def test_a_case_that_was_expected_and_not_measured_fails_closed() -> None:
    report = judge(noisy_case(1.0), expected_cases=["case", "gone"])
    assert [c.code for c in report.cases] == [ReasonCode.LOWER_BOUND_MEETS_GATE, ReasonCode.CASE_MISSING]
    assert (report.verdict, report.exit_code) == (Verdict.NOT_MEASURED, ExitCode.NOT_MEASURED)
    assert (report.enforced, report.not_enforced) == (("case",), ("gone",))


def test_an_experiment_without_cases_does_not_pass() -> None:
    assert judge().verdict is Verdict.NOT_MEASURED


def test_blocked_order_is_labelled() -> None:
    report = gate(experiment(noisy_case(1.0), order=RunOrder.BLOCKED), GateRule(), today=TODAY)
    assert ReasonCode.BLOCKED_ORDER in {alarm.code for alarm in report.alarms}


def test_blocked_order_on_a_drifting_machine_decides_nothing() -> None:
    runs = []
    for i in range(12):
        side, pair = (Side.BASE, i) if i < 6 else (Side.HEAD, i - 6)
        rate = 100_000 * 0.97**i * (1 + 0.002 * (-1) ** i)
        runs.append(run("case", side, pair, position=0, started_at_s=float(i), transitions_per_s=rate))
    evidence = ExperimentEvidence(
        cases=(CaseEvidence(case="case", runs=tuple(runs)),), order=RunOrder.BLOCKED
    )
    case = gate(evidence, GateRule(), today=TODAY).cases[0]
    assert (case.verdict, case.code) == (Verdict.UNDECIDED, ReasonCode.DRIFT_IN_BLOCKED_ORDER)


def test_an_undecided_case_asks_for_its_next_look_and_a_decided_one_does_not() -> None:
    schedule = LookSchedule.adaptive(3, 12)
    unclear = noisy_case(0.91, pairs=6, sd=0.03, name="unclear")
    report = judge(noisy_case(0.6, name="clear"), unclear, schedule=schedule)
    assert report.wants_pairs == ("unclear",)
    assert report.cases[1].next_look_at == 8
    assert judge(unclear).wants_pairs == ()


def test_after_the_last_look_no_more_pairs_are_asked_for() -> None:
    report = judge(noisy_case(0.905, pairs=12, sd=0.05), schedule=LookSchedule.adaptive(3, 12))
    assert report.verdict is Verdict.UNDECIDED
    assert report.wants_pairs == ()


def test_a_gate_that_was_refused_asks_for_no_more_pairs() -> None:
    rule, schedule = GateRule(min_ratio=0.99), LookSchedule.adaptive(3, 12)
    case = verdict(noisy_case(1.0), rule=rule, floors=floor(0.05), schedule=schedule)
    assert (case.code, case.next_look_at) == (ReasonCode.GATE_TIGHTER_THAN_NOISE, None)


def test_intervals_that_lie_differently_to_the_gate_are_told() -> None:
    log_ratios = [-0.20, -0.21, -0.19, -0.2, -0.22, -0.18, -0.2, -0.21, -0.19, -0.2, -0.2, 0.5]
    heavy = verdict(case_of([100.0] * 12, (100 * np.exp(log_ratios)).tolist()))
    assert heavy.verdict is Verdict.UNDECIDED
    alarm = next(a for a in heavy.alarms if a.code is ReasonCode.INTERVALS_DISAGREE)
    assert "they lie differently to 0.9" in alarm.message
    assert ReasonCode.INTERVALS_DISAGREE not in {a.code for a in verdict(noisy_case(0.8)).alarms}


def test_early_looks_ask_for_stronger_evidence_than_a_fixed_number_of_pairs() -> None:
    early = noisy_case(0.86, pairs=3, sd=0.005, seed=2)
    fixed = verdict(early)
    sequential = verdict(early, schedule=LookSchedule.adaptive(3, 12))
    assert (fixed.verdict, sequential.verdict) == (Verdict.FAIL, Verdict.UNDECIDED)
    assert fixed.p_below is not None
    assert sequential.p_below == pytest.approx(min(1.0, fixed.p_below / (0.2 / 3)))


def test_a_verdict_stays_when_pairs_are_added_that_no_look_asked_for() -> None:
    schedule = LookSchedule.adaptive(3, 12)
    seven = noisy_case(0.84, pairs=7, sd=0.005, seed=1)
    six = CaseEvidence(case="case", runs=tuple(r for r in seven.runs if r.pair < 6))
    assert verdict(seven, schedule=schedule).p_below == verdict(six, schedule=schedule).p_below


def test_looks_that_show_opposite_verdicts_decide_nothing() -> None:
    head = [80.0, 80.1, 79.9, 80.0, 80.1, 79.9, *([120.0] * 6)]
    d = case_of([100.0] * 12, [h + 0.01 * i for i, h in enumerate(head)])
    looks = LookSchedule.adaptive(3, 12)
    case = verdict(d, schedule=looks)
    assert case.verdict is not Verdict.PASS
    wild = case_of(
        [100.0] * 40, [80.0 + 0.01 * (i % 3) for i in range(6)] + [120.0 + 0.01 * (i % 3) for i in range(34)]
    )
    opposed = verdict(wild, schedule=LookSchedule.adaptive(6, 40))
    assert (opposed.verdict, opposed.code) == (Verdict.UNDECIDED, ReasonCode.LOOKS_DISAGREE)


def test_only_what_fails_twice_in_the_same_case_is_confirmed() -> None:
    first = judge(noisy_case(0.8, name="a"), noisy_case(0.8, name="b"))
    second = judge(noisy_case(0.8, name="a", seed=1), noisy_case(1.0, name="b", seed=1))
    confirmed = confirm(first, second)
    assert [c.code for c in confirmed.cases] == [ReasonCode.UPPER_BOUND_BELOW_GATE, ReasonCode.NOT_CONFIRMED]
    assert confirmed.verdict is Verdict.FAIL
    assert confirm(judge(noisy_case(0.8, name="b")), second).verdict is Verdict.UNDECIDED


rates = st.lists(st.floats(50.0, 200.0), min_size=3, max_size=9)


@given(rates, st.data())
def test_swapping_sides_inverts_the_ratio_and_its_interval(base: list[float], data: st.DataObject) -> None:
    head = data.draw(st.lists(st.floats(50.0, 200.0), min_size=len(base), max_size=len(base)))
    ours = verdict(case_of(base, head)).estimate
    runs = [_swapped(r) for r in case_of(base, head).runs]
    theirs = verdict(CaseEvidence(case="case", runs=tuple(runs))).estimate
    assert ours is not None
    assert theirs is not None
    assert ours.interval is not None
    assert theirs.interval is not None
    assert theirs.ratio == pytest.approx(1 / ours.ratio)
    assert (theirs.interval.low, theirs.interval.high) == pytest.approx(
        (1 / ours.interval.high, 1 / ours.interval.low)
    )


def _swapped(sample: RunSample) -> RunSample:
    return dataclasses.replace(sample, side=Side.BASE if sample.side is Side.HEAD else Side.HEAD)


@given(rates, st.floats(0.01, 1000.0))
def test_scaling_both_sides_leaves_the_ratio(base: list[float], factor: float) -> None:
    head = [rate * (0.9 + 0.01 * i) for i, rate in enumerate(base)]
    ours = verdict(case_of(base, head)).estimate
    theirs = verdict(case_of([r * factor for r in base], [r * factor for r in head])).estimate
    assert ours is not None
    assert theirs is not None
    assert theirs.ratio == pytest.approx(ours.ratio)
    assert theirs.smallest_change == pytest.approx(ours.smallest_change)


@given(rates, st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(base: list[float], random: Any) -> None:
    case = case_of(base, [rate * 0.9 for rate in base])
    runs = list(case.runs)
    random.shuffle(runs)
    assert verdict(CaseEvidence(case="case", runs=tuple(runs))) == verdict(case)


def test_the_order_of_cases_does_not_matter() -> None:
    cases = [
        noisy_case(0.9, name="a", seed=1),
        noisy_case(0.8, name="b", seed=2),
        noisy_case(1.0, name="c", seed=3),
    ]
    there = {c.case: c for c in judge(*cases).cases}
    back = {c.case: c for c in judge(*cases[::-1]).cases}
    assert {name: (c.verdict, c.p_below_corrected) for name, c in there.items()} == {
        name: (c.verdict, c.p_below_corrected) for name, c in back.items()
    }


def test_judging_again_gives_the_same_report() -> None:
    evidence = experiment(noisy_case(0.91, name="a"), noisy_case(0.8, name="b"))
    assert gate(evidence, GateRule(), today=TODAY) == gate(evidence, GateRule(), today=TODAY)
