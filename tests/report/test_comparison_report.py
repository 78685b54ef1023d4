from __future__ import annotations

from typing import Any

import hand_made_run
import pytest
from hand_made_run import measured, outcome

from envdyno.launch.run_record import make_record
from envdyno.record.run_record import RunRecord
from envdyno.report.comparison_report import batch_lines, comparison_lines, suite_lines
from envdyno.report.glyphs import glyphs_for

FAILED = make_record(hand_made_run.failed_outcome(), ("envdyno",))


def run_at(rate: int, num_envs: int = 8, **changes: Any) -> RunRecord:
    """A run of one second that completed ``rate`` transitions."""
    told = measured({"transitions": rate // 2, "steps": rate // 8})
    return make_record(outcome([told, told], shares=(num_envs // 2,) * 2, **changes), ("envdyno",))


def test_a_list_of_batch_sizes_marks_the_best_and_says_why_others_have_no_figure() -> None:
    lines = batch_lines([run_at(8000), run_at(16000, num_envs=1024), FAILED])
    assert lines == [
        " envs  transitions/s  of best  transitions/CPU-s",
        "    8          8,000     50 %              8,889",
        "1,024         16,000    100 %             17,778  best",
        "    8              -        -                  -  killed",
    ]


def test_a_list_in_which_nothing_was_completed_has_no_best() -> None:
    lines = batch_lines([run_at(0), run_at(0)])
    assert not any("best" in line for line in lines[1:])
    assert batch_lines([FAILED])[1].endswith("killed")


def test_two_sides_have_their_median_range_and_number_of_figures() -> None:
    sides = ([run_at(8000), run_at(4000), FAILED], [run_at(8000), run_at(6000), run_at(1000)])
    assert comparison_lines(("direct", "manager"), sides) == [
        "         transitions/s      [min, max]  transitions/CPU-s       n",
        "direct           6,000  [4,000, 8,000]              6,667  2 of 3",
        "manager          6,000  [1,000, 8,000]              6,667  3 of 3",
        "",
        "manager over direct: 1.250 [1.000, 1.500], median and range of 2 pairs",
    ]


def test_the_ratio_is_of_runs_of_one_pair_not_of_the_medians() -> None:
    """A day of drift moves both runs of a pair alike: the medians of the sides would hide that."""
    first = [run_at(1000), run_at(2000), run_at(4000)]
    second = [run_at(2000), run_at(4000), run_at(8000)]
    assert comparison_lines(("a", "b"), (first, second))[-1] == (
        "b over a: 2.000 [2.000, 2.000], median and range of 3 pairs"
    )


@pytest.mark.parametrize(
    "sides",
    [
        ([FAILED], [run_at(8000)]),
        ([FAILED, run_at(8000)], [run_at(8000), FAILED]),
        ([run_at(8000)], []),
        ([run_at(0)], [run_at(8000)]),
    ],
    ids=["one failed", "never both", "interrupted", "nothing done"],
)
def test_without_a_pair_there_is_no_ratio_and_it_is_said_why(sides: Any) -> None:
    lines = comparison_lines(("a", "b"), sides)
    assert lines[-1] == "No ratio: there is no pair with a figure on both sides."


def test_an_unfinished_pair_is_left_out_of_the_ratio() -> None:
    lines = comparison_lines(("a", "b"), ([run_at(1000), run_at(2000)], [run_at(3000)]))
    assert lines[-1] == "b over a: 3.000 [3.000, 3.000], median and range of 1 pair"


def test_a_suite_lists_every_case_and_below_what_could_not_run() -> None:
    lines = suite_lines([run_at(8000), FAILED, run_at(0)], {"robot": "It needs an engine."})
    assert lines[0].split() == ["case", "envs", "transitions/s", "transitions/CPU-s", "step", "resets/step"]
    assert lines[1].split() == ["synthetic", "8", "8,000", "8,889", "1.00", "ms", "0.01"]
    assert lines[2].split()[-1] == "killed"
    assert lines[3].split()[2] == "0"
    assert lines[-2:] == ["Could not run:", "  robot: It needs an engine."]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_the_tables_can_be_written_in_every_encoding(encoding: str) -> None:
    sides = ([run_at(8000)], [run_at(9000)])
    lines = [
        *batch_lines([run_at(8000), FAILED]),
        *comparison_lines(("a", "b"), sides),
        *suite_lines([run_at(8000)], {}),
    ]
    for line in lines:
        glyphs_for(encoding).fit(line).encode(encoding)
