"""Running a command with a deadline, its output kept in a log file."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

_TAIL_LINES = 20
_TAIL_BYTES = 64 * 1024


class Ending(str, Enum):
    """How a command ended."""

    DONE = "done"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NOT_STARTED = "not_started"


class CommandResult(NamedTuple):
    """What became of a command."""

    ending: Ending
    detail: str
    """``exit code 1``, ``killed by SIGKILL``, ``no end after 60 s``, or why it could not start."""
    log_tail: str
    """The last lines of the log."""


def run_logged(
    command: Sequence[str],
    *,
    log: Path,
    cwd: Path,
    environ: Mapping[str, str],
    deadline_s: float,
) -> CommandResult:
    """Run ``command`` with no input, appending its output to ``log``.

    The command gets a process group of its own, which is killed as a whole at the deadline and when the
    caller is interrupted, so that nothing it started is left behind.
    """
    with log.open("ab") as output:
        output.write(f"$ {' '.join(command)}\n".encode())
        output.flush()
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return CommandResult(Ending.NOT_STARTED, f"{command[0]}: {error.strerror}", "")
        try:
            code = process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            return CommandResult(Ending.TIMEOUT, f"no end after {deadline_s:.0f} s", tail(log))
        except BaseException:
            _kill_group(process)
            raise
    if code == 0:
        return CommandResult(Ending.DONE, "exit code 0", "")
    detail = f"exit code {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
    return CommandResult(Ending.FAILED, detail, tail(log))


def tail(log: Path) -> str:
    """Return the last lines of ``log``, indented for a message."""
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - _TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-_TAIL_LINES:])


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
