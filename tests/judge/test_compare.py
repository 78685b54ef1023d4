from __future__ import annotations

import pytest
from experiments import experiment, noisy_case, run

from envdyno.judge.compare import compare_bundles
from envdyno.judge.evidence import CaseEvidence, Side, SideEvidence
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.verdicts import ExitCode, Verdict


def test_ratios_of_two_machines_are_set_side_by_side_and_absolute_figures_are_not() -> None:
    found = compare_bundles(
        experiment(noisy_case(0.80)),
        experiment(noisy_case(0.90, seed=1), machine="machine-2"),
        rule=GateRule(),
    )
    assert found.outcome is not None
    assert (found.outcome.verdict, found.outcome.code) == (
        Verdict.INCOMPARABLE,
        ReasonCode.DIFFERENT_MACHINES,
    )
    assert found.exit_code is ExitCode.INCOMPARABLE
    (case,) = found.cases
    assert case.absolute.ratio is None
    assert case.earlier_ratio is not None
    assert case.later_ratio is not None
    assert (case.earlier_ratio.ratio, case.later_ratio.ratio) == pytest.approx((0.80, 0.90), abs=0.02)
    assert case.ratio_change is not None
    assert case.ratio_change.change == pytest.approx(0.90 / 0.80, abs=0.03)
    assert found.control_moves == ()


def test_a_machine_that_nobody_recorded_is_not_the_same_machine() -> None:
    found = compare_bundles(
        experiment(noisy_case(1.0), machine=None), experiment(noisy_case(1.0), machine=None)
    )
    assert found.outcome is not None
    assert found.outcome.code is ReasonCode.DIFFERENT_MACHINES
    assert found.cases[0].absolute.ratio is None


def test_bundles_of_one_machine_are_compared_in_absolute_figures() -> None:
    found = compare_bundles(experiment(noisy_case(1.0)), experiment(noisy_case(1.0, seed=1)), rule=GateRule())
    assert found.outcome is None
    assert found.cases[0].absolute.ratio == pytest.approx(1.0, abs=0.02)
    assert found.exit_code is ExitCode.OK


def test_the_sides_to_compare_can_be_chosen() -> None:
    found = compare_bundles(
        experiment(noisy_case(0.5)), experiment(noisy_case(0.5, seed=1)), later_side=Side.HEAD
    )
    assert found.cases[0].absolute.ratio == pytest.approx(0.5, abs=0.02)


def test_a_comparison_without_a_gate_ends_with_exit_code_0() -> None:
    assert compare_bundles(experiment(noisy_case(1.0)), experiment(noisy_case(0.5))).exit_code is ExitCode.OK


def test_bundles_without_a_common_case_have_compared_nothing() -> None:
    found = compare_bundles(experiment(noisy_case(1.0, name="a")), experiment(noisy_case(1.0, name="b")))
    assert (found.only_earlier, found.only_later) == (("a",), ("b",))
    assert found.exit_code is ExitCode.NOT_MEASURED


def test_fields_that_must_be_equal_are_compared_one_by_one() -> None:
    earlier, later = (
        experiment(noisy_case(1.0), base=SideEvidence(identity={"actions": actions, "window_s": 10}))
        for actions in ("random", "zero")
    )
    found = compare_bundles(earlier, later)
    assert found.outcome is not None
    assert found.outcome.code is ReasonCode.IDENTITY_DIFFERS
    assert [m.name for m in found.mismatches] == ["actions"]
    assert compare_bundles(earlier, later, declared=["actions"]).outcome is None


def test_a_forced_comparison_shows_the_ratio_and_stays_incomparable() -> None:
    later = experiment(noisy_case(1.0, seed=1), machine="machine-2")
    found = compare_bundles(experiment(noisy_case(1.0)), later, force=True)
    assert found.cases[0].absolute.ratio == pytest.approx(1.0, abs=0.02)
    assert ReasonCode.FORCED in {a.code for a in found.cases[0].absolute.alarms}
    assert found.exit_code is ExitCode.INCOMPARABLE


def test_a_move_of_the_control_side_is_told_with_the_comparison() -> None:
    slower = [noisy_case(1.0, sd=0.005, seed=1).runs[i] for i in range(12)]
    import dataclasses

    later = tuple(dataclasses.replace(r, transitions_per_s=0.7 * (r.transitions_per_s or 0)) for r in slower)
    found = compare_bundles(experiment(noisy_case(1.0)), experiment(CaseEvidence(case="case", runs=later)))
    assert [alarm.code for alarm in found.alarms] == [ReasonCode.CASE_MOVED]


def test_bundles_of_one_side_have_no_ratio_of_their_own() -> None:
    runs = tuple(run("case", Side.BASE, i, transitions_per_s=100.0 + i) for i in range(4))
    bundle = experiment(CaseEvidence(case="case", runs=runs))
    (case,) = compare_bundles(bundle, bundle).cases
    assert case.earlier_ratio is case.later_ratio is case.ratio_change is None
    assert case.absolute.ratio == pytest.approx(1.0)
