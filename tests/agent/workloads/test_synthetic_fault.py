from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent import stages
from envdyno.agent.stages import Stage
from envdyno.agent.workloads import synthetic_fault
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.synthetic_fault import Fault, FaultPlan


@pytest.fixture(autouse=True)
def in_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults happen in a stage: here the window."""
    monkeypatch.setattr(stages, "_current", Stage.WINDOW)


def plan(fault: str, worker: int | None = 0, **options: Any) -> FaultPlan:
    """A fault as the options of the synthetic workload order it."""
    return FaultPlan.from_options({"fault": fault, **options}, worker)


@given(st.integers(0, 6), st.integers(1, 10))
def test_a_fault_strikes_once_after_the_calls_that_were_asked_for(after: int, calls: int) -> None:
    struck: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "_current", Stage.WINDOW)
        ordered = plan("slow", fault_after=after)
        for call in range(calls):
            patch.setattr(synthetic_fault, "_commit", lambda fault, size, call=call: struck.append(call))
            ordered.strike()
    assert struck == ([after] if after < calls else [])


def test_a_fault_waits_for_its_stage_and_counts_the_calls_there(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = plan("raise", fault_stage="close", fault_after=1)
    for _ in range(5):
        ordered.strike()
    monkeypatch.setattr(stages, "_current", Stage.CLOSE)
    ordered.strike()
    with pytest.raises(RuntimeError, match="told to raise"):
        ordered.strike()


@pytest.mark.parametrize(
    ("victim", "worker", "struck"), [(0, 0, True), (1, 0, False), (-1, 3, True), (0, None, True)]
)
def test_only_the_worker_that_was_named_fails(victim: int, worker: int | None, struck: bool) -> None:
    ordered = plan("nan", worker, fault_worker=victim)
    ordered.strike()
    assert ordered.rows_not_finite() == int(struck)


def test_no_fault_is_the_default() -> None:
    ordered = FaultPlan.from_options({})
    assert ordered.fault is Fault.NONE
    ordered.strike()
    assert not ordered.struck


@pytest.mark.parametrize(
    "options",
    [{"fault": "explode"}, {"fault": "kill", "fault_stage": "lunch"}, {"fault": "slow", "fault_size": "big"}],
)
def test_an_order_that_cannot_be_followed_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(WorkloadError, match="synthetic has no"):
        FaultPlan.from_options(options)


def test_it_leaves_as_it_was_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append((pid, number)))
    plan("kill").strike()
    plan("abort").strike()
    assert signals == [(os.getpid(), signal.SIGKILL), (os.getpid(), signal.SIGABRT)]
    with pytest.raises(SystemExit) as left:
        plan("exit").strike()
    assert left.value.code == 0


def test_it_sleeps_as_long_as_it_was_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    plan("slow", fault_size=0.25).strike()
    plan("hang").strike()
    assert slept == [0.25, 86400]


def test_it_prints_as_much_as_it_was_told_to_on_both_streams(capsys: pytest.CaptureFixture[str]) -> None:
    plan("print", fault_size=3).strike()
    printed = capsys.readouterr()
    assert len(printed.out) == len(printed.err) == 3 * 1024


def test_it_binds_itself_to_its_first_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[tuple[int, set[int]]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 9}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cpus: bound.append((pid, cpus)), raising=False)
    plan("shrink_affinity").strike()
    assert bound == [(0, {3})]
