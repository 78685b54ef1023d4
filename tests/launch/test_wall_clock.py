"""A clock that is set while a run goes on, by a person or by the network, changes no duration."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from envdyno.agent.placement.request import Request
from envdyno.launch.measure import measure
from envdyno.launch.session import open_session
from envdyno.plan.run_request import RunRequest

FAR_BELOW_AN_HOUR_S = 600


def test_a_wall_clock_that_jumps_by_an_hour_at_every_look_changes_no_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumps = itertools.cycle((1e9, 1e9 - 3600, 1e9 + 3600))
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    monkeypatch.setattr(time, "time_ns", lambda: int(next(jumps) * 1e9))
    request = RunRequest(
        workload="synthetic",
        num_envs=4,
        window_s=0.2,
        warmup_steps=5,
        placement=Request(numa="off"),
        cwd=tmp_path,
    )
    with open_session() as session:
        record = measure(request, session)
    assert record.throughput is not None
    assert record.throughput.elapsed_s == pytest.approx(0.2)
    assert record.machine is not None
    assert 0 < record.machine.elapsed_s < FAR_BELOW_AN_HOUR_S
    assert record.overhead_s is not None
    assert 0 <= record.overhead_s < FAR_BELOW_AN_HOUR_S
    assert all(0 <= seconds < FAR_BELOW_AN_HOUR_S for seconds in record.workers[0].stages_s.values())
