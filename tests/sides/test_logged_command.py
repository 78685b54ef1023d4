"""Commands end by their deadline, with all that they started, and their words are kept."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from envdyno.sides.logged_command import Ending, run_logged


def run(tmp_path: Path, script: str, deadline_s: float = 60.0) -> tuple[object, Path]:
    log = tmp_path / "log"
    result = run_logged(
        ["/bin/sh", "-c", script], log=log, cwd=tmp_path, environ=os.environ, deadline_s=deadline_s
    )
    return result, log


def test_output_of_both_kinds_is_kept(tmp_path: Path) -> None:
    result, log = run(tmp_path, "echo out; echo err >&2")
    assert result.ending is Ending.DONE
    assert {"out", "err"} <= set(log.read_text().splitlines())


def test_a_failure_has_its_code_and_last_lines(tmp_path: Path) -> None:
    result, _ = run(tmp_path, "for i in $(seq 50); do echo line $i; done; exit 7")
    assert (result.ending, result.detail) == (Ending.FAILED, "exit code 7")
    assert "line 50" in result.log_tail
    assert "line 1\n" not in result.log_tail


def test_a_signal_is_named(tmp_path: Path) -> None:
    result, _ = run(tmp_path, "kill -KILL $$")
    assert result.detail == "killed by SIGKILL"


def test_at_the_deadline_all_that_was_started_ends(tmp_path: Path) -> None:
    result, _ = run(tmp_path, f"sleep 300 & echo $! > {tmp_path}/pid; wait", deadline_s=0.5)
    assert result.ending is Ending.TIMEOUT
    pid = (tmp_path / "pid").read_text().strip()
    for _ in range(100):
        state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False)
        if state.stdout.strip() in ("", "Z"):
            break
        time.sleep(0.05)
    assert state.stdout.strip() in ("", "Z")


def test_a_program_that_is_not_there_is_no_exception(tmp_path: Path) -> None:
    result = run_logged(["/nonexistent"], log=tmp_path / "log", cwd=tmp_path, environ={}, deadline_s=5.0)
    assert result.ending is Ending.NOT_STARTED


def test_a_command_has_no_input_to_wait_for(tmp_path: Path) -> None:
    result, _ = run(tmp_path, "read answer || echo no input", deadline_s=20.0)
    assert result.ending is Ending.DONE
