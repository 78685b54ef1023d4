from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator

import pytest
from fake_clock import FakeClock
from rich.console import Console

from envdyno.agent.stages import Stage
from envdyno.report.progress import REFRESH_S, ProgressLine


@pytest.fixture(autouse=True)
def fake_time(monkeypatch: pytest.MonkeyPatch, fake_clock: FakeClock) -> Iterator[None]:
    """The line reads a clock that moves when told."""
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", fake_clock.s)
        yield


def console(*, terminal: bool) -> Console:
    """A console that writes into memory."""
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)


def written(on: Console) -> str:
    """What has been written to it."""
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def test_nothing_is_written_where_there_is_no_terminal(fake_clock: FakeClock) -> None:
    on = console(terminal=False)
    with ProgressLine(on, 10.0) as line:
        line.begin("synthetic")
        line.stage(0, Stage.BUILD)
        fake_clock.sleep(5)
        line.tick()
    assert written(on) == ""


def test_nothing_is_written_when_it_is_not_wanted() -> None:
    on = console(terminal=True)
    with ProgressLine(on, 10.0, shown=False) as line:
        line.begin("synthetic")
        line.tick()
    assert written(on) == ""


def test_the_line_tells_the_stage_of_the_slowest_worker_and_for_how_long(fake_clock: FakeClock) -> None:
    on = console(terminal=True)
    with ProgressLine(on, 10.0) as line:
        line.begin("synthetic   8 envs")
        line.stage(0, Stage.WARMUP)
        line.stage(1, Stage.BUILD)
        fake_clock.sleep(3)
        line.tick()
        assert "synthetic   8 envs   build   3.0 s   2 workers" in written(on)
        line.stage(1, Stage.WINDOW)
        line.tick()
        assert "warmup   0.0 s   2 workers" in written(on)
        line.stage(0, Stage.WINDOW)
        fake_clock.sleep(2)
        line.tick()
        assert "window   2.0 s of 10 s   2 workers" in written(on)


def test_a_stage_of_a_faster_worker_does_not_start_the_time_anew(fake_clock: FakeClock) -> None:
    on = console(terminal=True)
    with ProgressLine(on, None) as line:
        line.begin("w")
        line.stage(0, Stage.BUILD)
        fake_clock.sleep(2)
        line.stage(1, Stage.FIRST_STEP)
        fake_clock.sleep(2)
        line.tick()
        assert "build   4.0 s" in written(on)


def test_the_current_rate_is_that_of_all_workers_once_all_have_told(fake_clock: FakeClock) -> None:
    on = console(terminal=True)
    with ProgressLine(on, 10.0) as line:
        assert line.follows_rate
        line.begin("w")
        for worker in (0, 1):
            line.stage(worker, Stage.WINDOW)
        line.rate(0, 4000.0)
        line.tick()
        assert "rows/s" not in written(on)
        line.rate(1, 4448.4)
        fake_clock.sleep(1)
        line.tick()
        assert "window   1.0 s of 10 s   2 workers   ~8,448 rows/s" in written(on)
        line.begin("next")
        line.stage(0, Stage.WINDOW)
        line.tick()
        assert "~" not in written(on).rpartition("next")[2]


def test_nobody_is_asked_for_a_rate_that_nobody_sees() -> None:
    with ProgressLine(console(terminal=False), 10.0) as line:
        assert not line.follows_rate


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal_or_in_characters_that_it_lacks(
    width: int, encoding: str, fake_clock: FakeClock
) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    on = Console(file=file, force_terminal=True, width=width, color_system=None, legacy_windows=False)
    notes = [f"so far flashsac/go2_joystick_flat/mujoco–{n}: head/base 0.985 of 3 pairs" for n in range(20)]
    with ProgressLine(on, 10.0) as line:
        line.begin(
            "3 of 12, at most 5 min left   flashsac/go2_joystick_flat/mujoco, pair 2, side head", notes
        )
        line.stage(0, Stage.WINDOW)
        line.rate(0, 123_456.0)
        line.tick()
        file.flush()
        shown = raw.getvalue().decode(encoding)
    bare = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", one) for one in shown.split("\n")]
    assert max(map(len, bare)) <= width
    assert "~123,456 rows/s" in shown
    assert "and 14 more" in shown


def test_before_any_worker_has_spoken_it_is_starting() -> None:
    on = console(terminal=True)
    with ProgressLine(on, 10.0) as line:
        line.begin("w")
        line.tick()
        assert "start   0.0 s   0 workers" in written(on)


def test_the_line_is_drawn_no_more_often_than_it_has_to_be(fake_clock: FakeClock) -> None:
    on = console(terminal=True)
    with ProgressLine(on, 10.0) as line:
        line.begin("w")
        line.tick()
        drawn = len(written(on))
        for _ in range(100):
            fake_clock.sleep(REFRESH_S / 200)
            line.tick()
        assert len(written(on)) == drawn
        fake_clock.sleep(REFRESH_S)
        line.tick()
        assert len(written(on)) > drawn


def test_another_run_begins_anew(fake_clock: FakeClock) -> None:
    on = console(terminal=True)
    with ProgressLine(on, 10.0) as line:
        line.begin("first")
        line.stage(0, Stage.CLOSE)
        fake_clock.sleep(9)
        line.begin("second")
        fake_clock.sleep(1)
        line.tick()
        assert "second   start   1.0 s   0 workers" in written(on)
