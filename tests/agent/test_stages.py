from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from fake_clock import FakeClock

from envdyno.agent import stages
from envdyno.agent.stages import Ledger, Stage, current_stage


@pytest.fixture(autouse=True)
def from_the_start(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test begins in the first stage and leaves the process there."""
    monkeypatch.setattr(stages, "_current", Stage.START)
    return


def test_a_stage_is_announced_before_it_is_timed(fake_clock: FakeClock) -> None:
    announced: list[Stage] = []

    def announce(stage: Stage) -> None:
        announced.append(stage)
        fake_clock.advance(5_000_000_000)

    ledger = Ledger(announce, fake_clock.ns)
    with ledger.stage(Stage.BUILD):
        fake_clock.advance(250_000_000)
        assert announced == [Stage.BUILD]
        assert current_stage() is Stage.BUILD
    assert ledger.seconds == {"build": 0.25}


def test_stages_stand_in_the_ledger_in_the_order_in_which_they_were_passed(fake_clock: FakeClock) -> None:
    ledger = Ledger(lambda _stage: None, fake_clock.ns)
    for seconds, stage in enumerate((Stage.IMPORT, Stage.BUILD, Stage.WARMUP)):
        with ledger.stage(stage):
            fake_clock.advance(seconds * 10**9)
    assert ledger.seconds == {"import": 0, "build": 1, "warmup": 2}


def test_the_stage_that_failed_stays_the_current_one_and_has_no_time(fake_clock: FakeClock) -> None:
    ledger = Ledger(lambda _stage: None, fake_clock.ns)
    with pytest.raises(ZeroDivisionError), ledger.stage(Stage.WINDOW):
        raise ZeroDivisionError
    assert current_stage() is Stage.WINDOW
    assert ledger.seconds == {}


def test_a_wall_clock_that_is_set_back_shortens_no_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: -3600.0)
    monkeypatch.setattr(time, "time_ns", lambda: -3600 * 10**9)
    ledger = Ledger(lambda _stage: None)
    with ledger.stage(Stage.BUILD):
        pass
    assert 0 <= ledger.seconds["build"] < 3600


def test_the_stages_are_in_the_order_in_which_a_worker_passes_them() -> None:
    assert [stage.value for stage in Stage] == [
        "start", "bind", "import", "build", "first_step", "warmup", "window", "audit", "close",
    ]  # fmt: skip
