from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from envdyno.agent.measure import phases
from envdyno.agent.measure.phase_recorder import CpuTiming, PhaseRecorder
from envdyno.agent.measure.phase_tree import PhaseStatus
from envdyno.agent.measure.phase_window import PhaseReading, PhaseWindow, tree_of
from envdyno.agent.measure.phases import phase
from envdyno.agent.measure.probe_target import Probe
from envdyno.agent.measure.probes import InstalledProbes
from envdyno.agent.workloads.contract import PhaseTotal

MS = 1_000_000


class FakeClock:
    def __init__(self) -> None:
        self.now = 10 * MS

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClock]:
    made = FakeClock()
    monkeypatch.setattr(phases, "_recorder", PhaseRecorder(made, made))
    yield made
    phases.disable()


Step = Callable[[], None]


@pytest.fixture
def step(clock: FakeClock) -> Step:
    def take() -> None:
        with phase("env_step"):
            clock.now += 1 * MS
            with phase("physics"):
                clock.now += 6 * MS
        clock.now += 3 * MS

    return take


def window_of(clock: FakeClock, **options: object) -> PhaseWindow:
    return PhaseWindow(wall_clock=clock, cpu_clock=clock, **options)  # type: ignore[arg-type]


def test_a_window_holds_its_own_steps_and_no_others(clock: FakeClock, step: Step) -> None:
    phases.enable()
    step()
    window = window_of(clock)
    window.open()
    step()
    step()
    reading = window.close(2)
    step()
    assert reading.totals == (PhaseTotal("env_step", 14 * MS, 2), PhaseTotal("env_step/physics", 12 * MS, 2))
    assert (reading.wall_ns, reading.vector_steps, reading.cpu_ns) == (20 * MS, 2, None)
    assert not phases.is_enabled()


def test_workers_become_one_tree_per_vector_step(clock: FakeClock, step: Step) -> None:
    readings = []
    for steps in (1, 3):
        window = window_of(clock, cpu=CpuTiming.PROCESS)
        window.open()
        for _ in range(steps):
            step()
        readings.append(PhaseReading.from_json(json.loads(json.dumps(window.close(steps).to_json()))))
    tree = tree_of(readings)
    physics = tree.find("env_step/physics")
    assert physics is not None
    assert (tree.vector_steps, tree.step_ms) == (4, 10.0)
    assert (physics.ms_per_step, physics.calls_per_step, physics.equivalent_cores) == (6.0, 1.0, 1.0)
    assert tree.remainder.ms_per_step == pytest.approx(3.0)
    assert tree.equivalent_cores == pytest.approx(1.0)


def test_a_framework_fills_in_what_no_phase_times(clock: FakeClock, step: Step) -> None:
    totals = [PhaseTotal("env_step", 500 * MS, None), PhaseTotal("env_step/contacts", 0, None)]
    window = window_of(clock, framework=lambda: totals)
    window.open()
    step()
    totals[:] = [PhaseTotal("env_step", 900 * MS, None), PhaseTotal("env_step/contacts", 2 * MS, None)]
    tree = tree_of([window.close(1)])
    contacts, env_step = tree.find("env_step/contacts"), tree.find("env_step")
    assert contacts is not None
    assert env_step is not None
    assert contacts.ms_per_step == 2.0
    assert env_step.ms_per_step == 7.0, "the one that envdyno timed itself"


def test_a_framework_whose_timers_were_reset_within_the_window_is_refused(
    clock: FakeClock, step: Step
) -> None:
    totals = [PhaseTotal("env_step", 500, 9)]
    window = window_of(clock, framework=lambda: totals)
    window.open()
    step()
    totals[:] = [PhaseTotal("env_step", 100, 1)]
    with pytest.raises(ValueError, match="went back within the window"):
        window.close(1)


def test_declared_and_probed_phases_that_did_not_run_are_told_apart(clock: FakeClock, step: Step) -> None:
    phase("held_and_never_entered")
    probes = InstalledProbes((Probe("probed_and_silent", "m", "f"), Probe("physics", "m", "g")))
    window = window_of(clock, probes=probes)
    window.open()
    step()
    tree = tree_of([window.close(1)], expected=["env_step/update_state"])
    statuses = {
        path: found.status
        for path in (
            "held_and_never_entered",
            "probed_and_silent",
            "env_step/update_state",
            "env_step/physics",
        )
        if (found := tree.find(path))
    }
    assert statuses == {
        "held_and_never_entered": PhaseStatus.NEVER_RAN,
        "probed_and_silent": PhaseStatus.NOT_INSTRUMENTED,
        "env_step/update_state": PhaseStatus.NOT_INSTRUMENTED,
        "env_step/physics": PhaseStatus.TIMED,
    }
    assert tree.find("physics") is None, "a probe that fired is where it fired"


def test_misuse_in_the_window_is_counted(clock: FakeClock, step: Step) -> None:
    window = window_of(clock)
    window.open()
    outer = phase("outer")
    outer.__enter__()
    with phase("inner"):
        outer.__exit__(None, None, None)
    assert window.close(1).misnested == 2
