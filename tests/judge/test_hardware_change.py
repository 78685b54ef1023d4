from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_bundles import GO2, Made, experiment
from made_records import made_run

from envdyno.judge.hardware_change import HardwareChange, hardware_figures
from envdyno.record.hardware import EventCount, HardwareCounts
from envdyno.record.run_record import RunRecord

RATES = ((1000.0, 1000.0, 1000.0), (900.0, 900.0, 900.0))


def counts(instructions: int | None, cycles: int | None, elapsed_s: float = 10.0) -> HardwareCounts:
    """What a processor counted, and what the record makes of it."""
    told = {
        name: None if count is None else EventCount(count=count, counted_share=1.0)
        for name, count in (("instructions", instructions), ("cycles", cycles))
    }
    return HardwareCounts(
        elapsed_s=elapsed_s,
        cache_references=None,
        cache_misses=None,
        branch_misses=None,
        instructions_per_cycle=instructions / cycles if instructions and cycles else None,
        instructions_per_transition=None,
        **told,
    )


def counted(record: RunRecord, *arguments: Any, **more: Any) -> RunRecord:
    """A record with counts."""
    return record.model_copy(update={"hardware": counts(*arguments, **more)})


def made(base: Sequence[int | None], head: Sequence[int | None]) -> Made:
    """An experiment of three pairs, with the instructions of each run; a cycle each."""

    def count(record: RunRecord) -> RunRecord:
        assert record.experiment is not None
        told = (base if record.experiment.side == "base" else head)[record.experiment.pair - 1]
        return record if told is None else counted(record, told, told)

    return experiment({GO2: RATES}, change=count)


def changes(found: Made) -> dict[str, HardwareChange]:
    """What the judge says, by figure."""
    (judgement,) = found.material().judgements
    (case,) = judgement.report.cases
    return {one.name: one for one in case.hardware}


def test_counts_are_told_over_the_transitions_of_their_own_time() -> None:
    figures = hardware_figures(counted(made_run(1000.0), 44_000_000, 22_000_000, elapsed_s=11.0))
    assert figures == {
        "instructions_per_transition": 4000.0,
        "cycles_per_transition": 2000.0,
        "instructions_per_cycle": 2.0,
    }


def test_a_run_without_counters_or_without_a_headline_has_no_figure() -> None:
    assert hardware_figures(made_run(1000.0)) is None
    assert hardware_figures(counted(made_run(None), 4000, 2000)) is None


def test_more_instructions_for_the_same_work_show_as_a_change_with_its_interval() -> None:
    base, head = (10_000_000, 10_100_000, 9_900_000), (13_500_000, 13_600_000, 13_400_000)
    found = changes(made(base, head))["instructions_per_transition"]
    assert found.base == pytest.approx(10_000_000 / 10 / 1000)
    assert found.head == pytest.approx(13_500_000 / 10 / 900)
    assert found.change == pytest.approx(0.5, abs=0.01)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.change < found.high


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=3, max_size=3))
def test_swapping_the_sides_inverts_the_change(pairs: list[tuple[float, float]]) -> None:
    first, second = ([round(1e4 * value) for value in side] for side in zip(*pairs, strict=True))
    there = changes(made(first, second))["instructions_per_transition"]
    back = changes(made(second, first))["instructions_per_transition"]
    rates = math.log(1000 / 900)
    assert math.log1p(there.change) - rates == pytest.approx(-(math.log1p(back.change) - rates), abs=1e-6)


def test_pairs_in_which_one_side_has_no_counts_are_left_out() -> None:
    found = changes(made((10_000_000, None, None), (12_000_000, 50, 50)))["instructions_per_transition"]
    assert (found.pairs, found.low, found.high) == (1, None, None)


def test_without_any_counts_there_is_nothing_to_read() -> None:
    assert changes(made((None,) * 3, (None,) * 3)) == {}


def test_what_was_counted_changes_no_verdict_and_raises_no_alarm() -> None:
    with_counts = made((1000,) * 3, (9_000_000,) * 3).material().judgements[0].report.cases[0]
    without = made((None,) * 3, (None,) * 3).material().judgements[0].report.cases[0]
    assert (with_counts.verdict, with_counts.code) == (without.verdict, without.code)
    assert with_counts.alarms == without.alarms
