from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from experiments import TODAY, experiment, noisy_case

from envdyno.judge.evidence import Metric
from envdyno.judge.gate import GateReport, gate
from envdyno.judge.gate_rule import GateException, GateRule
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.verdicts import ExitCode, Verdict


def exception(case: str = "slow", **fields: Any) -> GateException:
    defaults = {
        "min_ratio": 0.80,
        "reason": "command lookup not yet vectorised",
        "owner": "envs team",
        "expires": TODAY,
    }
    return GateException(case=case, **{**defaults, **fields})


def judge(*exceptions: GateException, today: date = TODAY, slow: float = 0.85) -> GateReport:
    evidence = experiment(noisy_case(slow, name="slow"), noisy_case(0.85, name="also slow", seed=1))
    return gate(evidence, GateRule(exceptions=exceptions), today=today)


def test_an_exception_lowers_the_bound_of_its_case_and_of_no_other() -> None:
    report = judge(exception())
    assert [(c.min_ratio, c.verdict) for c in report.cases] == [(0.80, Verdict.PASS), (0.90, Verdict.FAIL)]
    assert report.cases[0].exception == exception()


def test_an_exception_is_a_bound_and_no_pardon() -> None:
    assert judge(exception(), slow=0.7).cases[0].verdict is Verdict.FAIL


def test_an_exception_holds_through_its_last_day() -> None:
    assert judge(exception(expires=TODAY)).cases[0].verdict is Verdict.PASS


def test_the_day_after_an_exception_fails_by_itself_and_no_longer_lowers_the_bound() -> None:
    evidence = experiment(noisy_case(1.0, name="slow"))
    rule = GateRule(exceptions=(exception(expires=TODAY),))
    report = gate(evidence, rule, today=TODAY + timedelta(days=1))
    assert report.cases[0].verdict is Verdict.PASS
    assert report.cases[0].min_ratio == 0.90
    assert (report.verdict, report.exit_code) == (Verdict.FAIL, ExitCode.GATE_FAILED)
    assert [alarm.code for alarm in report.alarms] == [ReasonCode.EXCEPTION_EXPIRED]
    assert "envs team: command lookup not yet vectorised" in report.alarms[0].message


def test_an_exception_for_an_absent_case_warns_and_changes_nothing() -> None:
    report = gate(experiment(noisy_case(1.0)), GateRule(exceptions=(exception("gone"),)), today=TODAY)
    assert report.verdict is Verdict.PASS
    assert [alarm.code for alarm in report.alarms] == [ReasonCode.EXCEPTION_UNMATCHED]
    assert report.unmatched == (exception("gone"),)


def test_a_stale_exception_for_an_absent_case_does_not_redden_an_unrelated_experiment() -> None:
    stale = exception("gone", expires=TODAY - timedelta(days=400))
    assert (
        gate(experiment(noisy_case(1.0)), GateRule(exceptions=(stale,)), today=TODAY).verdict is Verdict.PASS
    )


def test_an_exception_for_another_metric_does_not_match() -> None:
    other = exception(metric=Metric.TRANSITIONS_PER_CPU_S)
    assert judge(other).unmatched == (other,)


def test_an_exception_that_a_case_no_longer_needs_is_told() -> None:
    codes = {alarm.code for alarm in judge(exception(), slow=1.0).cases[0].alarms}
    assert ReasonCode.EXCEPTION_NOT_NEEDED in codes
    assert ReasonCode.EXCEPTION_NOT_NEEDED not in {a.code for a in judge(exception()).cases[0].alarms}


@pytest.mark.parametrize("case", ["sac/*", "sac/g1?", "[ab]", ""])
def test_an_exception_that_could_cover_other_cases_is_refused(case: str) -> None:
    with pytest.raises(ValueError, match="must name exactly one case"):
        exception(case)


@pytest.mark.parametrize("field", ["reason", "owner"])
def test_an_exception_without_reason_or_owner_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"has no {field}"):
        exception(**{field: "  "})


def test_an_exception_that_is_stricter_than_the_gate_is_refused() -> None:
    with pytest.raises(ValueError, match="can only lower the bound"):
        GateRule(min_ratio=0.7, exceptions=(exception(),))


def test_two_exceptions_for_one_case_are_refused() -> None:
    with pytest.raises(ValueError, match="more than one exception: slow"):
        GateRule(exceptions=(exception(), exception(min_ratio=0.7)))


@pytest.mark.parametrize(
    "fields", [{"min_ratio": 0.0}, {"min_ratio": float("nan")}, {"alpha": 0.5}, {"min_pairs": 1}]
)
def test_a_gate_that_cannot_be_meant_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs a positive ratio|error level|at least two pairs"):
        GateRule(**fields)
