from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.phase_totals import difference, paths_of_names, summed
from envdyno.agent.workloads.contract import PhaseTotal

paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map("/".join)
windows = st.dictionaries(
    paths,
    st.tuples(st.integers(0, 10**12), st.integers(0, 100), st.none() | st.integers(0, 10**12)),
    max_size=10,
).map(lambda known: [PhaseTotal(path, *rest) for path, rest in known.items()])


def test_the_difference_of_two_reads_counts_new_paths_from_zero() -> None:
    before = [PhaseTotal("a", 5, 1, 7)]
    after = [PhaseTotal("a", 9, 3, 17), PhaseTotal("b", 4, 1, 4)]
    assert difference(before, after) == (PhaseTotal("a", 4, 2, 10), PhaseTotal("b", 4, 1, 4))


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ([PhaseTotal("a", 4, 9)], r"went back within the window, from 5 to 4 ns"),
        ([], r"timers of a were there"),
    ],
)
def test_a_source_that_was_reset_within_the_window_is_refused(after: list[PhaseTotal], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        difference([PhaseTotal("a", 5, 1)], after)


def test_calls_that_one_read_does_not_tell_are_not_told_of_the_window() -> None:
    assert difference([PhaseTotal("a", 5, None)], [PhaseTotal("a", 9, None)]) == (PhaseTotal("a", 4, None),)


def test_workers_are_summed_path_by_path() -> None:
    first = [PhaseTotal("a", 5, 1, 5), PhaseTotal("b", 1, 1, 1)]
    second = [PhaseTotal("a", 7, 2, None)]
    assert summed([first, second]) == (PhaseTotal("a", 12, 3, None), PhaseTotal("b", 1, 1, 1))


def test_names_that_end_a_path_are_known_already() -> None:
    window = [PhaseTotal("env_step/physics", 1, 1)]
    assert paths_of_names(["physics", "z", "update_state"], window) == ("update_state", "z")


@given(st.lists(windows, max_size=4))
def test_summing_workers_loses_no_time_and_no_call(parts: list[list[PhaseTotal]]) -> None:
    total = summed(parts)
    assert sum(t.wall_ns for t in total) == sum(t.wall_ns for part in parts for t in part)
    assert sum(t.calls or 0 for t in total) == sum(t.calls or 0 for part in parts for t in part)
