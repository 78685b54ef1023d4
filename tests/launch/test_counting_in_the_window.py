"""Counters on real workers, by events of software: they go the way of hardware events, held against procfs.

A machine without hardware counters counts these all the same.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from envdyno.agent.job import Purpose
from envdyno.agent.placement.request import Request
from envdyno.host.hardware_counters import HardwareCounters
from envdyno.host.perf_events import EventType, PerfEvent, Scope
from envdyno.launch import run
from envdyno.launch.measure import prepare
from envdyno.launch.run import execute
from envdyno.launch.run_outcome import RunOutcome
from envdyno.launch.session import open_session
from envdyno.plan.run_request import RunRequest
from envdyno.record.hardware import HardwareCounting

SOFTWARE = {
    "task_clock_ns": PerfEvent(EventType.SOFTWARE, 1),
    "context_switches": PerfEvent(EventType.SOFTWARE, 3, Scope.ALL),
}
POOL = """
import hashlib
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(3)
data = bytes(1 << 19)

def build(num_envs, seed):
    def step(actions):
        list(pool.map(lambda part: hashlib.sha256(data).digest(), range(3)))
    return step
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks this machine's kernel")


def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **changes: object) -> RunOutcome:
    """Run a workload whose work is done by the threads of a pool that it makes at import."""
    monkeypatch.setattr(run, "HardwareCounters", partial(HardwareCounters, events=SOFTWARE))
    (tmp_path / "pool_workload.py").write_text(POOL)
    settings: dict[str, object] = {
        "workload": "pool_workload:build",
        "num_envs": 4,
        "window_s": 1.0,
        "warmup_steps": 5,
        "placement": Request(numa="off", workers_per_node=2),
        "cwd": tmp_path,
    }
    request = RunRequest(**(settings | changes))  # type: ignore[arg-type]
    with open_session() as session:
        found = execute(request, prepare(request), session, Purpose.MEASURE)
    assert found.failure is None, found.failure
    return found


def test_the_threads_of_pools_are_counted_in_the_window_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = outcome(tmp_path, monkeypatch)
    assert found.hardware is not None
    assert found.use is not None
    if found.hardware.missing:
        pytest.skip(f"this kernel refuses to count: {found.hardware.missing}")
    for counted, accounted in zip(found.hardware.workers, found.use.workers, strict=True):
        used_s = counted["task_clock_ns"].count / 1e9
        # Both are CPU time, over spans that differ by the reading of procfs; accounts are kept in ticks.
        assert used_s / found.hardware.elapsed_s == pytest.approx(
            accounted.cpu_s / found.use.elapsed_s, rel=0.15, abs=0.05
        )
        assert counted["context_switches"].count > 0


def test_counters_that_are_switched_off_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = outcome(tmp_path, monkeypatch, hardware_counters=HardwareCounting.OFF, window_s=0.2)
    assert found.hardware is None
