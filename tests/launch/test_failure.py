from __future__ import annotations

import signal
from pathlib import Path

import pytest

from envdyno.launch.failure import (
    LOG_TAIL_BYTES,
    LOG_TAIL_LINES,
    Failure,
    FailureKind,
    Interrupted,
    RunFailed,
    from_exit,
    from_message,
    tail,
)


def test_a_kill_is_named_with_a_hint_at_memory_and_other_signals_without() -> None:
    killed = from_exit(3, "window", -signal.SIGKILL)
    assert (killed.kind, killed.signal, killed.exit_code) == (FailureKind.SIGNAL, "SIGKILL", None)
    assert killed.message.startswith("Worker 3 was killed by SIGKILL in stage window.")
    assert "possibly out of memory" in killed.message
    crashed = from_exit(3, "window", -signal.SIGSEGV)
    assert crashed.signal == "SIGSEGV"
    assert "memory" not in crashed.message


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    assert from_exit(0, "build", -250).signal == "signal 250"


@pytest.mark.parametrize("code", [0, 1, 137])
def test_an_exit_before_the_work_was_done_is_a_failure_whatever_its_code(code: int) -> None:
    ended = from_exit(1, "build", code)
    assert (ended.kind, ended.exit_code, ended.signal) == (FailureKind.EXIT, code, None)
    assert f"stage build with exit code {code}" in ended.message


def test_what_a_worker_raised_keeps_its_type_its_text_and_its_traceback() -> None:
    told: dict[str, object] = {
        "stage": "warmup",
        "kind": "exception",
        "exception": "ValueError",
        "message": "no such joint.",
        "traceback": "Traceback ...",
    }
    failure = from_message(2, told)
    assert failure.message == "Worker 2 failed in stage warmup: ValueError: no such joint."
    assert (failure.exception, failure.traceback, failure.stage) == ("ValueError", "Traceback ...", "warmup")


def test_what_cannot_be_had_is_the_users_sentence_alone() -> None:
    told: dict[str, object] = {
        "stage": "build",
        "kind": "usage",
        "exception": "WorkloadError",
        "message": "No.",
    }
    failure = from_message(0, told)
    assert (failure.kind, failure.message, failure.traceback) == (FailureKind.USAGE, "No.", None)


def test_an_exception_without_a_text_or_a_traceback_is_still_a_sentence() -> None:
    failure = from_message(0, {"stage": "window", "exception": "AssertionError", "message": ""})
    assert failure.message == "Worker 0 failed in stage window: AssertionError."
    assert failure.traceback is None


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("".join(f"line {index}\n" for index in range(100)))
    assert tail(log) == tuple(f"line {index}" for index in range(100 - LOG_TAIL_LINES, 100))
    assert tail(log, 2) == ("line 98", "line 99")


def test_a_log_of_any_bytes_has_a_readable_tail(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_bytes(b"\xff\xfe\n50%\r100%\rdone\n")
    assert tail(log) == ("��", "50%", "100%", "done")


def test_only_the_end_of_a_huge_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("x" * 10 * LOG_TAIL_BYTES + "\nlast\n")
    lines = tail(log)
    assert lines[-1] == "last"
    assert sum(map(len, lines)) <= LOG_TAIL_BYTES


def test_a_log_cannot_command_the_terminal_it_is_shown_on(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_bytes(b"\x1b[31mred\x1b[0m \x1b]0;title\x07text\ttab\x00\n")
    (line,) = tail(log)
    assert "\x1b" not in line
    assert "red" in line
    assert "\ttab" in line
    assert all(character.isprintable() or character == "\t" for character in line)


def test_no_log_has_no_tail(tmp_path: Path) -> None:
    assert tail(tmp_path / "none.log") == ()
    assert tail(tmp_path) == ()


def test_a_failure_takes_its_log_along(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("loading\n")
    failure = Failure(FailureKind.EXIT, 0, "build", "It ended.").with_log(log)
    assert failure.log_tail == ("loading",)
    assert str(RunFailed(failure)) == "It ended."


def test_an_interruption_names_its_signal() -> None:
    assert str(Interrupted(signal.SIGTERM)) == "Interrupted by SIGTERM."
