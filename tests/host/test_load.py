from __future__ import annotations

import time

import pytest
from fake_clock import FakeClock

from envdyno.host import load
from envdyno.host.load import Load, sample_load
from envdyno.host.procfs import MachineUse

NOTHING = MachineUse({0: 0.0, 1: 0.0, 9: 0.0}, {0: 0.0, 1: 0.0, 9: 0.0})


def test_busy_cores_are_seconds_of_cpu_time_a_second_on_the_cpus_asked_for() -> None:
    found = Load(2.0, NOTHING, MachineUse({0: 0.0, 1: 1.5, 9: 2.0}, None))
    assert found.busy_cores((0, 1)) == pytest.approx(0.75)
    assert found.busy_cores((0,)) == 0
    assert found.busy_cores(iter((1, 9))) == pytest.approx(1.75)


def test_stolen_cores_are_those_of_the_whole_machine() -> None:
    found = Load(2.0, NOTHING, MachineUse({}, {0: 0.5, 1: 0.0, 9: 0.25}))
    assert found.stolen_cores == pytest.approx(0.375)


@pytest.mark.parametrize("silent", ["before", "after"])
def test_steal_that_one_reading_does_not_tell_is_absent(silent: str) -> None:
    without = MachineUse({}, None)
    readings = (without, NOTHING) if silent == "before" else (NOTHING, without)
    assert Load(1.0, *readings).stolen_cores is None


def test_a_sample_that_took_longer_than_asked_is_divided_by_its_real_length(
    monkeypatch: pytest.MonkeyPatch, fake_clock: FakeClock
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: fake_clock.sleep(10 * seconds))
    monkeypatch.setattr(time, "monotonic", fake_clock.s)
    monkeypatch.setattr(load, "machine_use", lambda: MachineUse({0: fake_clock.s()}, None))
    found = sample_load(1.0)
    assert found.elapsed_s == pytest.approx(10)
    assert found.busy_cores((0,)) == pytest.approx(1.0)
