from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.host.counters import Edge, Sample, sample, use_between
from envdyno.host.procfs import MachineUse, TreeUse

TREE = TreeUse(0.0, 1000, 10, 1, 100, 20, 2)
seconds = st.floats(0, 100)


def at(
    at_s: float,
    cpu_s: tuple[float, ...],
    busy_s: dict[int, float],
    control_cpu_s: float = 0.0,
    steal_s: dict[int, float] | None = None,
) -> Sample:
    """A sample of a machine of which nothing else is known."""
    return Sample(
        at_s=at_s,
        workers=tuple(replace(TREE, cpu_s=used) for used in cpu_s),
        machine=MachineUse(busy_s, steal_s),
        control_cpu_s=control_cpu_s,
        pressure_us={"cpu": 5, "io": None},
        throttled_us=None,
    )


@given(seconds, seconds, seconds, seconds, st.floats(0.1, 60))
def test_foreign_load_is_what_was_busy_less_the_workers_and_the_control(
    first: float, second: float, foreign: float, control: float, elapsed: float
) -> None:
    """Workers on CPUs 0 and 1, the rest of the load on CPU 2 and the control anywhere."""
    before = at(10.0, (0.0, 0.0), {0: 0.0, 1: 0.0, 2: 0.0})
    after = at(
        10.0 + elapsed,
        (first, second),
        {0: first + control / 3, 1: second + control / 3, 2: foreign + control / 3},
        control,
    )
    use = use_between(before, after, (0, 1))
    assert use.elapsed_s == pytest.approx(elapsed)
    assert use.cpu_s == pytest.approx(first + second)
    assert use.control_cpu_s == pytest.approx(control)
    assert use.foreign_cores_machine * elapsed == pytest.approx(foreign, abs=1e-6)
    assert use.foreign_cores_chosen * elapsed == pytest.approx(0, abs=1e-6)
    assert use.machine_busy_s == pytest.approx(first + second + foreign + control)


def test_load_on_the_chosen_cpus_is_told_apart_from_that_on_others() -> None:
    before = at(0.0, (0.0,), {0: 50.0, 1: 50.0, 4: 50.0})
    after = at(2.0, (2.0,), {0: 53.0, 1: 51.0, 4: 52.0})
    use = use_between(before, after, (0, 1))
    assert use.foreign_cores_chosen == pytest.approx(1.0)
    assert use.foreign_cores_machine == pytest.approx(2.0)


def test_a_cpu_named_twice_is_counted_once() -> None:
    before, after = at(0.0, (0.0,), {0: 0.0}), at(1.0, (0.5,), {0: 0.5})
    assert use_between(before, after, (0, 0)).chosen_busy_s == 0.5


def test_what_each_worker_used_is_the_difference_and_its_memory_the_last_look() -> None:
    before, after = at(0.0, (1.0, 2.0), {0: 0.0}), at(1.0, (1.5, 2.25), {0: 0.0})
    later = replace(
        after.workers[1],
        rss_bytes=5000,
        minor_faults=25,
        major_faults=None,
        voluntary_switches=150,
        processes=3,
    )
    after = replace(after, workers=(after.workers[0], later))
    first, second = use_between(before, after, (0,)).workers
    assert (first.cpu_s, second.cpu_s) == (0.5, 0.25)
    assert second.rss_bytes == 5000
    assert (second.minor_faults, second.major_faults) == (15, None)
    assert (second.voluntary_switches, second.involuntary_switches, second.processes) == (50, 0, 3)


def test_what_the_kernel_does_not_tell_stays_absent() -> None:
    before, after = at(0.0, (0.0,), {0: 0.0}), at(1.0, (0.0,), {0: 0.0})
    use = use_between(before, after, (0,))
    assert (use.steal_s, use.throttled_us) == (None, None)
    assert use.pressure_us == {"cpu": 0, "io": None}


def test_steal_and_throttling_are_differences() -> None:
    before = replace(at(0.0, (0.0,), {0: 0.0}, steal_s={0: 1.0, 1: 1.0}), throttled_us=10)
    after = replace(at(1.0, (0.0,), {0: 0.0}, steal_s={0: 1.5, 1: 1.0}), throttled_us=250)
    use = use_between(before, after, (0,))
    assert (use.steal_s, use.throttled_us) == (0.5, 240)


def test_a_sample_of_this_process_sees_it_and_its_machine() -> None:
    before = sample([os.getpid()], Edge.START)
    after = sample([os.getpid()], Edge.END)
    use = use_between(before, after, before.machine.busy_s)
    assert use.elapsed_s > 0
    assert use.workers[0].rss_bytes > 0
    assert use.machine_busy_s >= 0
    assert set(use.pressure_us) == {"cpu", "memory", "io"}


def test_a_wall_clock_that_is_set_back_shortens_no_span(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sample([], Edge.START)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    after = sample([], Edge.END)
    assert 0 < use_between(before, after, ()).elapsed_s < 3600
