from __future__ import annotations

from pathlib import Path

import pytest
from machine_tree import write

from envdyno.agent.placement.load import (
    CpuTimes,
    Load,
    load_between,
    read_cpu_times,
    sample_load,
    why_not_exclusive,
)

# user nice system idle iowait irq softirq steal guest guest_nice
BEFORE = "cpu  0 0 0 0\ncpu0 100 0 50 1000 10 1 2 3 0 0\ncpu1 0 0 0 500 0 0 0 0 0 0\nctxt 77\n"
AFTER = "cpu  0 0 0 0\ncpu0 140 5 55 1040 15 2 3 7 9 0\ncpu1 0 0 0 600 0 0 0 0 0 0\nctxt 99\n"


def test_times_are_busy_stolen_and_idle(tmp_path: Path) -> None:
    write(tmp_path, "proc/stat", BEFORE)
    assert read_cpu_times(tmp_path) == {0: CpuTimes(153, 3, 1010), 1: CpuTimes(0, 0, 500)}


def test_old_kernels_with_fewer_columns_are_read(tmp_path: Path) -> None:
    write(tmp_path, "proc/stat", "cpu0 1 2 3 4")
    assert read_cpu_times(tmp_path) == {0: CpuTimes(6, 0, 4)}


@pytest.mark.parametrize("text", ["", "cpu0 1 2", "cpux 1 2 3 4", "intr 1 2 3 4"])
def test_lines_that_are_no_cpu_are_passed_over(tmp_path: Path, text: str) -> None:
    write(tmp_path, "proc/stat", text)
    assert read_cpu_times(tmp_path) == {}


def test_load_is_the_busy_and_stolen_share_of_the_time_that_passed(tmp_path: Path) -> None:
    def advance(seconds: float) -> None:
        write(tmp_path, "proc/stat", AFTER)

    write(tmp_path, "proc/stat", BEFORE)
    load = sample_load((0, 1), root=tmp_path, sleep=advance)
    assert load is not None
    assert load.by_cpu == {0: (52 + 4) / 101, 1: 0.0}
    assert load.busy_cpus == 56 / 101


def test_cpus_that_were_not_chosen_do_not_count() -> None:
    before = {0: CpuTimes(0, 0, 0), 1: CpuTimes(0, 0, 0)}
    after = {0: CpuTimes(100, 0, 0), 1: CpuTimes(0, 0, 100)}
    load = load_between(before, after, (1,))
    assert load is not None
    assert load.busy_cpus == 0.0


def test_a_cpu_that_went_offline_is_left_out() -> None:
    load = load_between({0: CpuTimes(0, 0, 0), 1: CpuTimes(0, 0, 0)}, {0: CpuTimes(1, 0, 1)}, (0, 1))
    assert load is not None
    assert load.by_cpu == {0: 0.5}


def test_counters_that_run_backwards_are_no_negative_load() -> None:
    load = load_between({0: CpuTimes(50, 0, 100)}, {0: CpuTimes(50, 0, 90)}, (0,))
    assert load is None


def test_no_time_and_no_counters_give_no_load(tmp_path: Path) -> None:
    same = {0: CpuTimes(1, 1, 1)}
    assert load_between(same, same, (0,)) is None
    assert sample_load((0,), root=tmp_path, sleep=lambda seconds: None) is None


def test_quiet_cpus_can_be_had_alone() -> None:
    assert why_not_exclusive(Load(0.1, {0: 0.05, 1: 0.05})) is None


def test_busy_cpus_are_named() -> None:
    reason = why_not_exclusive(Load(1.4, {0: 0.9, 1: 0.0, 5: 0.5}))
    assert reason is not None
    assert "Other work uses 1.40 of the 3 chosen CPUs, most on 0,5" in reason


def test_load_spread_thinly_over_many_cpus_is_named_too() -> None:
    reason = why_not_exclusive(Load(0.8, dict.fromkeys(range(16), 0.05)))
    assert reason is not None
    assert "0.80 of the 16" in reason


def test_a_system_without_counters_cannot_promise_exclusiveness() -> None:
    assert "cannot be told" in (why_not_exclusive(None) or "")
