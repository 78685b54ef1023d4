"""Signals to the control: one line, bounded time, records kept, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envdyno.launch.reaping import TOKEN_VARIABLE

PATIENCE_S = 60.0


def start(tmp_path: Path, *arguments: str, step_ms: str = "1") -> subprocess.Popen[str]:
    """Start ``envdyno run synthetic`` with temporary files in ``tmp_path``, in a session of its own."""
    command = [sys.executable, "-m", "envdyno", "run", "synthetic", "-n", "8", "--numa", "off"]
    (tmp_path / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [*command, "--workers-per-node", "2", "-o", f"step_ms={step_ms}", *arguments],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
    )


def workers_of(tmp_path: Path) -> list[int]:
    """Return the workers whose temporary files are in ``tmp_path``."""
    found = []
    marks = (f"TMPDIR={tmp_path / 'tmp'}".encode(), f"{TOKEN_VARIABLE}=".encode())
    for entry in Path("/proc").iterdir():
        try:
            environ = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if all(any(part.startswith(mark) for part in environ) for mark in marks):
            found.append(int(entry.name))
    return found


def wait_for(condition: object, what: str) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)


def in_window(tmp_path: Path) -> bool:
    """Return whether both workers have been started."""
    return len(workers_of(tmp_path)) >= 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_so_in_one_line_and_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    process = start(tmp_path, "--duration", "60s", "--jsonl", str(tmp_path / "records.jsonl"))
    wait_for(lambda: in_window(tmp_path), "the workers run")
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert out == ""
    assert f"Interrupted by {number.name}." in err
    assert "Traceback" not in err
    assert workers_of(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    (line,) = (tmp_path / "records.jsonl").read_text().splitlines()
    assert json.loads(line)["status"] == "interrupted"


def test_a_ctrl_c_to_the_whole_group_gives_no_traceback_of_a_worker(tmp_path: Path) -> None:
    process = start(tmp_path, "--duration", "60s")
    wait_for(lambda: in_window(tmp_path), "the workers run")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_runs_that_ended_before_the_interrupt_are_kept_and_no_further_one_starts(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    process = start(tmp_path, "-n", "10", "-n", "12", "--duration", "2s", "--jsonl", str(records))
    wait_for(lambda: records.exists() and records.read_text().count("\n") >= 1, "one run has ended")
    wait_for(lambda: in_window(tmp_path), "the next run's workers run")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert [json.loads(line)["status"] for line in records.read_text().splitlines()] == ["ok", "interrupted"]


@pytest.mark.parametrize("fault", ["none", "hang_locked"])
def test_a_killed_control_takes_its_workers_and_files_with_it(fault: str, tmp_path: Path) -> None:
    extra = ["-o", f"fault={fault}", "-o", "fault_stage=warmup", "-o", "children=1"]
    process = start(tmp_path, "--duration", "60s", *extra)
    wait_for(lambda: len(workers_of(tmp_path)) >= 4, "workers and their children run")
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    wait_for(lambda: workers_of(tmp_path) == [], "all workers are gone")
    wait_for(lambda: list((tmp_path / "tmp").iterdir()) == [], "the scratch folder is gone")


def test_a_killed_control_leaves_its_earlier_records_readable(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    process = start(tmp_path, "-n", "10", "--duration", "1s", "--jsonl", str(records))
    wait_for(lambda: records.exists() and records.read_text().count("\n") >= 1, "one run has ended")
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    assert json.loads(records.read_text().splitlines()[0])["status"] == "ok"
