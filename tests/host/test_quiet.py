from __future__ import annotations

import time
from collections.abc import Callable

import hand_made_run
import pytest
from fake_clock import FakeClock

from envdyno.host import load as load_module
from envdyno.host.procfs import MachineUse
from envdyno.host.quiet import check_exclusive, wait_until_idle
from envdyno.plan.usage_error import UsageError

Load = Callable[[Callable[[float], float]], None]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, fake_clock: FakeClock) -> Load:
    """Load CPU 1 in fake time by as many cores as a function of the time tells; CPU 9 is always busy."""

    def set_load(cores_at: Callable[[float], float]) -> None:
        used = {"s": 0.0}

        def sleep(seconds: float) -> None:
            used["s"] += seconds * cores_at(fake_clock.s())
            fake_clock.sleep(seconds)

        def read() -> MachineUse:
            return MachineUse({0: 0.0, 1: used["s"], 9: fake_clock.s()}, None)

        monkeypatch.setattr(time, "sleep", sleep)
        monkeypatch.setattr(time, "monotonic", fake_clock.s)
        monkeypatch.setattr(load_module, "machine_use", read)

    return set_load


def test_exclusive_use_is_refused_beside_other_work_and_names_it(load: Load) -> None:
    load(lambda now: 0.5)
    with pytest.raises(UsageError, match=r"0\.50 cores of the chosen CPUs \(0-3\).*limit 0\.1"):
        check_exclusive(hand_made_run.site(), 0.1)
    check_exclusive(hand_made_run.site(), 0.6)


def test_waiting_ends_as_soon_as_the_machine_is_idle(load: Load, fake_clock: FakeClock) -> None:
    load(lambda now: 1.0 if now < 5 else 0.0)
    began = fake_clock.s()
    assert wait_until_idle((0, 1), 0.1, patience_s=60.0) == pytest.approx(0.0)
    assert fake_clock.s() - began == pytest.approx(5, abs=1)


def test_waiting_ends_in_a_refusal_when_patience_does(load: Load, fake_clock: FakeClock) -> None:
    load(lambda now: 1.0)
    began = fake_clock.s()
    with pytest.raises(UsageError, match=r"still busy with 1\.00 cores.*after 3 s \(limit 0\.1\)"):
        wait_until_idle((0, 1), 0.1, patience_s=3.0)
    assert fake_clock.s() - began == pytest.approx(3, abs=1.1)
