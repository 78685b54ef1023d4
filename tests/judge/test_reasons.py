from __future__ import annotations

import pytest

from envdyno.judge.alarm_texts import ALARM_TEXTS
from envdyno.judge.reason_texts import VERDICT_TEXTS
from envdyno.judge.reasons import ReasonCode, explain
from envdyno.judge.verdicts import ExitCode, Verdict, exit_code, overall


@pytest.mark.parametrize("code", list(ReasonCode))
def test_every_code_says_what_it_means_and_what_would_change_it(code: ReasonCode) -> None:
    explanation = explain(code)
    for sentence in (explanation.meaning, explanation.what_would_change_it):
        assert sentence[0].isupper()
        assert sentence.endswith(".")


def test_there_is_no_text_without_a_code() -> None:
    assert set(VERDICT_TEXTS) | set(ALARM_TEXTS) == {code.value for code in ReasonCode}
    assert not set(VERDICT_TEXTS) & set(ALARM_TEXTS)


def test_every_verdict_has_a_reason_and_alarms_have_none() -> None:
    assert {text.verdict for text in VERDICT_TEXTS.values()} == set(Verdict)
    assert {text.verdict for text in ALARM_TEXTS.values()} == {None}


def test_a_code_is_found_however_it_is_written() -> None:
    assert explain(" batch-shift ").code is ReasonCode.BATCH_SHIFT


def test_an_unknown_code_names_those_that_are_near() -> None:
    with pytest.raises(ValueError, match=r"no reason code 'BATCHSHIFT'. Did you mean BATCH_SHIFT"):
        explain("BATCHSHIFT")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([Verdict.PASS, Verdict.PASS], Verdict.PASS),
        ([Verdict.PASS, Verdict.UNDECIDED], Verdict.UNDECIDED),
        ([Verdict.UNDECIDED, Verdict.INCOMPARABLE], Verdict.INCOMPARABLE),
        ([Verdict.INCOMPARABLE, Verdict.NOT_MEASURED, Verdict.PASS], Verdict.NOT_MEASURED),
        ([Verdict.NOT_MEASURED, Verdict.FAIL, Verdict.INCOMPARABLE], Verdict.FAIL),
        ([], Verdict.NOT_MEASURED),
    ],
)
def test_an_experiment_passes_only_if_every_case_does(verdicts: list[Verdict], expected: Verdict) -> None:
    assert overall(verdicts) is expected


def test_exit_codes_are_those_that_scripts_rely_on() -> None:
    codes = {verdict: int(exit_code(verdict)) for verdict in Verdict}
    assert codes == {
        Verdict.PASS: 0,
        Verdict.FAIL: 1,
        Verdict.UNDECIDED: 3,
        Verdict.INCOMPARABLE: 4,
        Verdict.NOT_MEASURED: 5,
    }
    assert (ExitCode.USAGE, ExitCode.INTERRUPTED) == (2, 130)
