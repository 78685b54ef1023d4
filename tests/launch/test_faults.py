"""Real worker processes that fail in every stage: the first cause is named, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
import uuid
from pathlib import Path

import pytest

from envdyno.agent.placement.request import Request
from envdyno.agent.stages import Stage
from envdyno.launch.measure import measure
from envdyno.launch.reaping import processes_of
from envdyno.launch.session import open_session
from envdyno.plan.run_request import RunRequest
from envdyno.plan.usage_error import UsageError
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Doubt, Status

FAULT_STAGES = ["import", "build", "first_step", "warmup", "window", "close"]
GENEROUS_S = 60.0
"""Far above what a loaded machine needs; a run that hangs would take for ever."""


def run_with(
    tmp_path: Path, workers: int = 1, deadlines: dict[Stage, float] | None = None, **options: object
) -> RunRecord:
    """Run the synthetic workload with options, and check that no process and no file is left."""
    request = RunRequest(
        workload="synthetic",
        options={"step_ms": 1.0, **options},
        num_envs=4 * workers,
        window_s=0.3,
        warmup_steps=5,
        placement=Request(numa="off", workers_per_node=workers),
        deadlines_s=deadlines or {},
        cwd=tmp_path,
    )
    began = time.monotonic()
    with open_session() as session:
        token, scratch = session.scratch.token, session.scratch.folder
        record = measure(request, session)
        assert processes_of(token) == []
    assert time.monotonic() - began < GENEROUS_S
    assert not scratch.exists()
    assert list(tmp_path.iterdir()) == []
    return record


@pytest.mark.parametrize("stage", FAULT_STAGES)
def test_a_worker_that_is_killed_is_named_with_its_stage_and_a_hint_at_memory(
    stage: str, tmp_path: Path
) -> None:
    record = run_with(tmp_path, fault="kill", fault_stage=stage)
    assert record.status is Status.KILLED
    assert record.failure is not None
    assert (record.failure.worker, record.failure.stage, record.failure.signal) == (0, stage, "SIGKILL")
    assert "possibly out of memory" in record.failure.message
    assert record.throughput is None
    assert record.totals is None


@pytest.mark.parametrize("stage", FAULT_STAGES)
def test_a_worker_that_raises_is_shown_with_its_own_traceback(stage: str, tmp_path: Path) -> None:
    record = run_with(tmp_path, fault="raise", fault_stage=stage)
    assert record.status is Status.FAILED
    assert record.failure is not None
    assert (record.failure.stage, record.failure.exception) == (stage, "RuntimeError")
    assert "told to raise" in record.failure.message
    assert "synthetic_fault.py" in (record.failure.traceback or "")
    assert record.throughput is None


@pytest.mark.parametrize("stage", FAULT_STAGES)
@pytest.mark.parametrize("fault", ["hang", "hang_locked"])
def test_a_worker_that_hangs_is_ended_at_the_deadline_of_its_stage(
    fault: str, stage: str, tmp_path: Path
) -> None:
    record = run_with(tmp_path, deadlines={Stage(stage): 0.5}, fault=fault, fault_stage=stage)
    assert record.status is Status.TIMEOUT
    assert record.failure is not None
    assert record.failure.stage == stage
    assert f"--deadline {stage}=" in record.failure.message
    assert any("synthetic_fault.py" in line for line in record.failure.log_tail), (
        "the log ends with the stacks"
    )


@pytest.mark.parametrize("stage", FAULT_STAGES)
@pytest.mark.parametrize("fault", ["exit", "exit_now"])
def test_a_worker_that_exits_early_with_a_good_code_is_a_failure(
    fault: str, stage: str, tmp_path: Path
) -> None:
    record = run_with(tmp_path, fault=fault, fault_stage=stage)
    assert record.status is Status.FAILED
    assert record.failure is not None
    assert record.failure.stage == stage
    assert record.throughput is None


def test_the_first_failing_worker_is_named_and_the_others_are_ended(tmp_path: Path) -> None:
    record = run_with(tmp_path, workers=3, fault="kill", fault_stage="window", fault_worker=1, fault_after=20)
    assert record.failure is not None
    assert record.failure.worker == 1
    assert record.status is Status.KILLED


def test_children_of_a_killed_worker_in_sessions_of_their_own_are_ended(tmp_path: Path) -> None:
    record = run_with(tmp_path, children=2, fault="kill", fault_stage="window")
    assert record.status is Status.KILLED


def test_an_abort_in_native_code_leaves_its_stacks_in_the_log(tmp_path: Path) -> None:
    record = run_with(tmp_path, fault="abort", fault_stage="warmup")
    assert record.failure is not None
    assert record.failure.signal == "SIGABRT"
    assert any("Fatal Python error" in line for line in record.failure.log_tail)


def test_rows_that_are_not_finite_make_a_run_invalid(tmp_path: Path) -> None:
    record = run_with(tmp_path, fault="nan", fault_stage="window", fault_after=3)
    assert record.status is Status.INVALID
    assert record.throughput is None
    assert record.totals is not None
    assert record.totals.nonfinite_rows
    assert Doubt.NONFINITE in {warning.code for warning in record.warnings}


def test_a_workload_that_prints_much_disturbs_nothing(tmp_path: Path) -> None:
    record = run_with(tmp_path, fault="print", fault_stage="warmup", fault_size=200)
    assert record.status is Status.OK


def test_a_workload_that_shrinks_its_affinity_is_named(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("a mask of one CPU cannot shrink")
    request = RunRequest(
        workload="synthetic",
        options={"step_ms": 1.0, "fault": "shrink_affinity", "fault_stage": "build"},
        num_envs=4,
        window_s=0.3,
        warmup_steps=5,
        placement=Request(numa="auto"),
        cwd=tmp_path,
    )
    with open_session() as session:
        record = measure(request, session)
    audits = [warning.message for warning in record.warnings if warning.code is Doubt.AUDIT]
    assert any("may run on CPU" in message for message in audits)


def test_a_slow_start_is_measured_apart_and_does_not_end_the_run(tmp_path: Path) -> None:
    record = run_with(tmp_path, fault="slow", fault_stage="first_step", fault_size=0.4)
    assert record.status is Status.OK
    assert record.workers[0].stages_s["first_step"] >= 0.4


def test_what_the_workload_leaves_running_is_ended_and_said(tmp_path: Path) -> None:
    record = run_with(tmp_path, workers=2, children=1)
    assert record.status is Status.OK


def test_a_factory_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    request = RunRequest(
        workload="no_such_module:build", num_envs=4, placement=Request(numa="off"), cwd=tmp_path
    )
    with open_session() as session, pytest.raises(UsageError, match="There is no module 'no_such_module'"):
        measure(request, session)


def test_the_traceback_of_what_is_told_in_a_sentence_is_in_the_workers_log(tmp_path: Path) -> None:
    (tmp_path / "broken_at_import.py").write_text("x = 1 / 0\n")
    request = RunRequest(
        workload="broken_at_import:build",
        num_envs=4,
        placement=Request(numa="off"),
        cwd=tmp_path,
        sys_path=(tmp_path,),
    )
    with open_session() as session:
        with pytest.raises(UsageError, match="division by zero") as caught:
            measure(request, session)
        (log,) = (path.read_text() for path in session.scratch.folder.rglob("worker-0.log"))
    assert "Traceback" not in str(caught.value)
    assert "Traceback" in log
    assert "x = 1 / 0" in log


def test_a_window_shorter_than_a_step_is_refused_before_it_is_measured(tmp_path: Path) -> None:
    request = RunRequest(
        workload="synthetic",
        options={"step_ms": 300.0},
        num_envs=4,
        window_s=0.1,
        warmup_steps=1,
        placement=Request(numa="off"),
        cwd=tmp_path,
    )
    with open_session() as session, pytest.raises(UsageError, match="one vector step"):
        measure(request, session)


def test_a_peer_that_stops_in_the_middle_of_a_message_is_named(tmp_path: Path) -> None:
    """The workload writes half a message to the private pipe and closes it, as a broken peer would."""
    (tmp_path / "torn_workload.py").write_text(
        "import os, time\n"
        "def build(num_envs, seed):\n"
        "    for fd in range(3, 64):\n"
        "        try:\n"
        "            if os.readlink(f'/proc/self/fd/{fd}').startswith('pipe:'):\n"
        '                try: os.write(fd, b\'{"v":1,"ty\')\n'
        "                except OSError: pass\n"
        "                os.close(fd)\n"
        "        except OSError:\n"
        "            pass\n"
        "    time.sleep(3600)\n"
    )
    request = RunRequest(
        workload="torn_workload:build", num_envs=4, placement=Request(numa="off"), cwd=tmp_path
    )
    with open_session() as session:
        record = measure(request, session)
    assert record.failure is not None
    assert record.failure.kind == "protocol"
    assert "in the middle of a message" in record.failure.message


def test_nothing_is_left_when_the_session_itself_fails(tmp_path: Path) -> None:
    with contextlib.suppress(ZeroDivisionError), open_session() as session:
        scratch = session.scratch.folder
        raise ZeroDivisionError
    assert not scratch.exists()
    assert scratch.parent == Path(tempfile.gettempdir())


def test_signal_handlers_are_put_back_after_a_session() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with open_session():
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_worker_that_is_ready_waits_for_a_neighbour_that_builds_longer_than_a_window(
    tmp_path: Path,
) -> None:
    record = run_with(
        tmp_path,
        workers=2,
        deadlines={Stage.WINDOW: 0.5},
        fault="slow",
        fault_stage="build",
        fault_worker=1,
        fault_size=2.0,
    )
    assert record.status is Status.OK


def test_shared_memory_of_a_killed_worker_is_removed(tmp_path: Path) -> None:
    name = f"envdyno-test-{uuid.uuid4().hex}"
    (tmp_path / "sharing.py").write_text(
        "import os, signal\n"
        "from multiprocessing.shared_memory import SharedMemory\n"
        "def build(num_envs, seed):\n"
        f"    shared = SharedMemory({name!r}, create=True, size=4096)\n"
        "    steps = iter(range(50))\n"
        "    def step(actions):\n"
        "        if next(steps, None) is None:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return len(shared.buf) * 0\n"
        "    return step\n"
    )
    request = RunRequest(workload="sharing:build", num_envs=4, placement=Request(numa="off"), cwd=tmp_path)
    with open_session() as session:
        record = measure(request, session)
    assert record.status is Status.KILLED
    assert not (Path("/dev/shm") / name).exists()
