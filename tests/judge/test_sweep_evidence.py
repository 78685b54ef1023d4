"""Which runs of a sweep count."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_sweeps import GRID, WORKLOAD, scouted, swept

from envdyno.judge.knee import MIN_GAIN, NEAR_BEST, is_flat, knee_of
from envdyno.judge.sweep_evidence import ENOUGH, SweepEvidence, SweepRun, used_runs
from envdyno.judge.sweep_from_records import sweep_evidence
from envdyno.record.setting import Setting, scouted_num_envs, scouting_case_name

ONE = Setting(64, 1, 2)
OTHER = Setting(128, 1, 2)


def run(block: int, rate: float = 100.0, setting: Setting = ONE, **more: Any) -> SweepRun:
    return SweepRun(setting, block, rate, **more)


def rates_of(*runs: SweepRun, blocks: int = 4) -> list[float | None]:
    """The rates of setting ONE that count, block by block."""
    used = used_runs(SweepEvidence((ONE,), blocks, runs))
    return [None if math.isnan(one) else round(math.exp(one), 6) for one in used.log_rates[0]]


def test_of_several_tries_an_undisturbed_one_counts_and_else_the_first() -> None:
    assert rates_of(run(0, 90, disturbed=True), run(0, 100, attempt=1), blocks=1) == [100]
    tries = [run(0, 90, disturbed=True), run(0, 95, disturbed=True, attempt=1)]
    assert rates_of(*tries, blocks=1) == [90]


def test_disturbed_runs_are_set_aside_where_enough_are_not_disturbed() -> None:
    calm = [run(block, 100 + block) for block in range(ENOUGH)]
    assert rates_of(*calm, run(3, 50, disturbed=True)) == [100, 101, 102, None]


def test_disturbed_runs_count_where_there_are_too_few_others_and_are_told() -> None:
    runs = (*(run(block, 100 + block) for block in range(2)), run(2, 50, disturbed=True))
    used = used_runs(SweepEvidence((ONE,), 3, runs))
    assert np.isfinite(used.log_rates).all()
    assert (used.disturbed, used.set_aside) == (1, 0)


def test_a_run_whose_canary_left_that_of_its_block_is_set_aside_where_it_can_be() -> None:
    runs = [run(block, 100.0, setting, canary_per_s=700.0) for block in range(4) for setting in (ONE, OTHER)]
    runs[6] = run(3, 80.0, ONE, canary_per_s=600.0)
    runs.append(run(3, 100.0, Setting(256, 1, 2), canary_per_s=700.0))
    used = used_runs(SweepEvidence((ONE, OTHER), 4, tuple(runs)))
    assert np.isnan(used.log_rates[0, 3])
    assert (used.canary_moved, used.set_aside) == (0, 1)


def test_a_moved_canary_is_graver_than_foreign_load() -> None:
    beside = [run(0, 100, OTHER, canary_per_s=700.0, attempt=n) for n in range(3)]
    tries = [run(0, 80, canary_per_s=600.0), run(0, 90, disturbed=True, canary_per_s=700.0, attempt=1)]
    used = used_runs(SweepEvidence((ONE, OTHER), 1, (*beside, *tries)))
    assert math.exp(used.log_rates[0, 0]) == pytest.approx(90)


@given(rates=st.lists(st.floats(1, 1e6), min_size=1, max_size=5), mark=st.booleans())
def test_whether_a_run_counts_never_depends_on_its_rate(rates: list[float], mark: bool) -> None:
    marks = [mark and number % 2 == 0 for number in range(len(rates))]
    runs = [run(n, rate, disturbed=bad) for n, (rate, bad) in enumerate(zip(rates, marks, strict=True))]
    plain = [one._replace(transitions_per_s=1.0) for one in runs]
    counted = [one is not None for one in rates_of(*runs, blocks=len(rates))]
    assert counted == [one is not None for one in rates_of(*plain, blocks=len(rates))]


def test_records_become_runs_by_setting_and_block_and_scouting_is_passed_over() -> None:
    made = swept()
    assert made.head is not None
    evidence = sweep_evidence([*scouted({64: 1e4}), *made.records], made.head.cases, 3)
    assert set(evidence.settings) > set(GRID)
    assert len(evidence.runs) == 3 * len(GRID)
    assert {one.block for one in evidence.runs} == {0, 1, 2}
    assert evidence.threads_in_all(Setting(1024, 2, 8)) == 16


def test_a_setting_is_read_back_from_the_name_of_its_case() -> None:
    for setting in GRID:
        assert Setting.of_case(setting.case_name(WORKLOAD)) == setting
        assert scouted_num_envs(setting.case_name(WORKLOAD)) is None
    assert scouted_num_envs(scouting_case_name("a@num_envs=1", 64)) == 64
    assert Setting.of_case(scouting_case_name("a", 64)) is None
    assert Setting.of_case("suite@num_envs=64") is None


@given(rates=st.dictionaries(st.integers(1, 10**6), st.floats(1, 1e9), min_size=1, max_size=12))
def test_the_knee_is_the_smallest_batch_near_the_best(rates: dict[int, float]) -> None:
    knee, best = knee_of(rates), max(rates.values())
    assert rates[knee] >= NEAR_BEST * best
    assert all(rate < NEAR_BEST * best for size, rate in rates.items() if size < knee)


def test_a_curve_is_flat_when_two_doublings_in_a_row_brought_nothing() -> None:
    assert not is_flat({64: 100, 128: 100})
    assert is_flat({64: 100, 128: 100 * MIN_GAIN - 1, 256: 90})
    assert not is_flat({64: 100, 128: 101, 256: 150})
    assert not is_flat({64: 100, 128: 150, 256: 151})
