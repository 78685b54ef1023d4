"""What is told of a case's work, in words."""

from __future__ import annotations

import pytest

from envdyno.judge.case_alarms import work_alarms
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.work import WorkClass, WorkComparison, WorkDifference


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [
        (400.014956523638, 411.2606754116818, "length: 400.015 | 411.261"),
        (1.0, 3.0, "length: 1 | 3"),
        (1, 12_345_678, "length: 1 | 12345678"),
        ("3f", "a0", "length: 3f | a0"),
    ],
)
def test_facts_that_differ_are_told_with_the_digits_that_a_reader_compares(
    base: float | str, head: float | str, told: str
) -> None:
    difference = WorkDifference("length", base, head, WorkClass.TO_READ)
    (alarm,) = work_alarms("case", WorkComparison((difference,), False, True))
    assert alarm.code is ReasonCode.WORK_TO_READ
    assert told in alarm.message
