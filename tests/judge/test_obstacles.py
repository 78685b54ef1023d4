from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from experiments import TODAY, case_of, experiment, noisy_case, run

from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, RunSample, Side, SideEvidence
from envdyno.judge.gate import gate
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.identity import compare_identity, describe
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.verdicts import Verdict
from envdyno.judge.work import WorkClass, compare_work
from envdyno.record.status import Status

NAMED = {"name": "main", "revision": "60c2ce7c"}


def verdict(evidence: ExperimentEvidence | CaseEvidence, **rule: Any) -> CaseVerdict:
    if isinstance(evidence, CaseEvidence):
        evidence = experiment(evidence)
    return gate(evidence, GateRule(**rule), today=TODAY).cases[0]


def with_run(case: CaseEvidence, *runs: RunSample) -> CaseEvidence:
    return dataclasses.replace(case, runs=(*case.runs, *runs))


@pytest.mark.parametrize("status", [Status.FAILED.TIMEOUT.KILLED])
def test_a_failed_run_is_not_outweighed_by_those_that_did_not_fail(status: Status) -> None:
    failed = run("case", Side.HEAD, 6, status=status, reason="worker 1 raised KeyError")
    case = verdict(with_run(noisy_case(1.0), failed))
    assert (case.verdict, case.code) == (Verdict.NOT_MEASURED, ReasonCode.RUN_FAILED)
    assert "1 of 13 runs" in case.message
    assert f"side head, pair 7, {status.value}: worker 1 raised KeyError." in case.message


def test_a_run_with_meaningless_figures_is_not_measured() -> None:
    case = verdict(with_run(noisy_case(1.0), run("case", Side.HEAD, 6, status=Status.INVALID)))
    assert (case.verdict, case.code) == (Verdict.NOT_MEASURED, ReasonCode.RUN_INVALID)


def test_a_failed_run_that_succeeded_when_repeated_is_told_and_not_in_the_way() -> None:
    case = verdict(with_run(noisy_case(1.0), run("case", Side.HEAD, 2, status=Status.FAILED)))
    assert case.verdict is Verdict.PASS
    assert ReasonCode.RUN_RETRIED in {alarm.code for alarm in case.alarms}


def test_interrupted_runs_leave_fewer_pairs_and_say_so() -> None:
    cut = run("case", Side.BASE, 6, status=Status.INTERRUPTED)
    case = verdict(with_run(noisy_case(1.0), cut))
    assert case.verdict is Verdict.PASS
    assert ReasonCode.PAIRS_INCOMPLETE in {alarm.code for alarm in case.alarms}
    assert (case.base.n, case.base.planned) == (6, 7)


def test_an_experiment_that_was_cut_off_before_its_first_pair_is_not_measured() -> None:
    runs = (
        run("case", Side.BASE, 0, transitions_per_s=1.0),
        run("case", Side.HEAD, 0, status=Status.INTERRUPTED),
    )
    case = verdict(CaseEvidence(case="case", runs=runs))
    assert (case.verdict, case.code) == (Verdict.NOT_MEASURED, ReasonCode.NO_COMPLETE_PAIR)


def test_without_a_baseline_nothing_else_takes_its_place() -> None:
    head_only = CaseEvidence(case="case", runs=(run("case", Side.HEAD, 0, transitions_per_s=1.0),))
    assert verdict(head_only).code is ReasonCode.NO_BASELINE


def test_a_canary_that_moved_in_every_pair_leaves_the_case_undecided() -> None:
    case = case_of([1.0] * 4, [0.5] * 4, base_fields={"canary_per_s": 1.0}, head_fields={"canary_per_s": 1.2})
    found = verdict(case)
    assert (found.verdict, found.code) == (Verdict.UNDECIDED, ReasonCode.ALL_PAIRS_VOID)
    assert found.estimate is None


def test_runs_of_one_side_with_two_configurations_are_no_repetitions() -> None:
    runs = noisy_case(1.0).runs
    mixed = [
        dataclasses.replace(r, config_hash="b" if r.pair == 3 and r.side is Side.BASE else "a") for r in runs
    ]
    case = verdict(CaseEvidence(case="case", runs=tuple(mixed)))
    assert (case.verdict, case.code) == (Verdict.INCOMPARABLE, ReasonCode.MIXED_CONFIGS)
    assert "a, b" in case.message


def test_sides_with_other_substeps_are_incomparable() -> None:
    case = noisy_case(
        1.4,
        base_fields={"work": {"substeps_per_transition": 3}},
        head_fields={"work": {"substeps_per_transition": 1}},
    )
    found = verdict(case)
    assert (found.verdict, found.code) == (Verdict.INCOMPARABLE, ReasonCode.WORK_DIFFERS)
    assert "substeps_per_transition: 3 | 1" in found.message
    assert found.estimate is not None


def test_other_rewards_and_dispatches_are_read_with_the_result() -> None:
    base, head = (
        {"reward_mean": 1.0, "dispatches_per_step": 1},
        {"reward_mean": 1.1, "dispatches_per_step": 3},
    )
    case = verdict(noisy_case(0.6, base_fields={"work": base}, head_fields={"work": head}))
    assert case.verdict is Verdict.FAIL
    assert {d.name for d in case.work.of_class(WorkClass.TO_READ)} == {"reward_mean", "dispatches_per_step"}
    assert ReasonCode.WORK_TO_READ in {alarm.code for alarm in case.alarms}


def test_rewards_within_one_per_cent_are_no_difference() -> None:
    case = noisy_case(
        1.0, base_fields={"work": {"reward_mean": 1.0}}, head_fields={"work": {"reward_mean": 1.005}}
    )
    assert compare_work(case).differences == ()


def test_a_window_without_resets_says_that_resets_are_not_covered() -> None:
    without = verdict(noisy_case(1.0, work={"reset_rows": 0}))
    with_some = verdict(noisy_case(1.0, work={"reset_rows": 12}))
    silent = verdict(noisy_case(1.0))
    assert [
        ReasonCode.RESET_NOT_COVERED in {a.code for a in c.alarms} for c in (without, with_some, silent)
    ] == [
        True,
        False,
        False,
    ]


def test_work_is_shown_to_be_the_same_only_if_every_run_has_the_same_hash() -> None:
    same, silent = {"observation_hash": "a"}, {}
    assert compare_work(noisy_case(1.0, work=same)).shown_same
    assert not compare_work(
        noisy_case(1.0, base_fields={"work": same}, head_fields={"work": silent})
    ).shown_same
    other = {"observation_hash": "b"}
    assert not compare_work(
        noisy_case(1.0, base_fields={"work": same}, head_fields={"work": other})
    ).shown_same
    assert not compare_work(CaseEvidence(case="case")).shown_same
    sizes = [{"work": {**same, "num_envs": n}} for n in (8192, 4096)]
    assert not compare_work(noisy_case(1.0, base_fields=sizes[0], head_fields=sizes[1])).shown_same


def test_sides_that_load_the_same_code_are_incomparable_unless_on_purpose() -> None:
    accident = experiment(noisy_case(1.0), sides_load_same_code=True)
    on_purpose = experiment(noisy_case(1.0), sides_load_same_code=True, is_aa=True)
    assert verdict(accident).code is ReasonCode.SIDES_LOAD_SAME_CODE
    assert verdict(on_purpose).verdict is Verdict.PASS


def test_a_dirty_tree_is_refused_unless_allowed() -> None:
    dirty = experiment(noisy_case(1.0), head=SideEvidence(dirty=True, **NAMED))
    assert verdict(dirty).code is ReasonCode.DIRTY_TREE
    assert verdict(dirty, allow_dirty=True).verdict is Verdict.PASS


def test_a_side_of_unknown_revision_is_incomparable() -> None:
    assert (
        verdict(experiment(noisy_case(1.0), head=SideEvidence(name="dev"))).code
        is ReasonCode.REVISION_UNKNOWN
    )


def test_sides_that_differ_in_identity_name_every_field() -> None:
    base = SideEvidence(identity={"cpu_model": "A", "num_envs": 8192, "python": "3.11"}, **NAMED)
    head = SideEvidence(identity={"cpu_model": "A", "num_envs": 4096}, **NAMED)
    case = verdict(experiment(noisy_case(1.0), base=base, head=head))
    assert (case.verdict, case.code) == (Verdict.INCOMPARABLE, ReasonCode.IDENTITY_DIFFERS)
    assert "num_envs: 8192 | 4096; python: 3.11 | not recorded" in case.message


def test_a_declared_difference_is_what_is_compared() -> None:
    sides = [SideEvidence(identity={"runtime": version}, **NAMED) for version in ("0.3.1", "0.4.0")]
    declared = experiment(
        noisy_case(1.0), base=sides[0], head=sides[1], declared_differences=frozenset({"runtime"})
    )
    assert verdict(declared).verdict is Verdict.PASS


def test_that_nothing_was_measured_is_told_before_that_it_would_be_incomparable() -> None:
    empty = experiment(CaseEvidence(case="case"), head=SideEvidence(name="dev"))
    assert verdict(empty).code is ReasonCode.CASE_MISSING


def test_a_field_that_one_record_lacks_is_a_mismatch() -> None:
    (mismatch,) = compare_identity({"gpu": None}, {})
    assert mismatch.missing
    assert describe([mismatch]) == "gpu: not recorded | not recorded"


def test_equal_records_have_no_mismatch() -> None:
    assert compare_identity({"a": 1, "b": None}, {"b": None, "a": 1}) == ()


def test_a_case_may_appear_only_once_in_an_experiment() -> None:
    with pytest.raises(ValueError, match="more than once in one experiment: case"):
        experiment(noisy_case(1.0), noisy_case(1.0))
