"""One worker process: its launch, its pipes, and its end."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envdyno.agent.placement.placement import Placement
from envdyno.agent.protocol import LineBuffer, ToWorker, encode
from envdyno.launch.failure import Failure, FailureKind, RunFailed
from envdyno.launch.reaping import TOKEN_VARIABLE


@dataclass(frozen=True)
class Launch:
    """What a worker process is started with."""

    worker: int
    python: Path
    agent_path: Path
    placement: Placement
    environ: Mapping[str, str]
    cwd: Path
    log: Path
    token: str


class WorkerProcess:
    """A started worker. Reads never block; the conductor waits for many workers at once.

    Raises:
        RunFailed: the process cannot be started.
    """

    def __init__(self, launch: Launch) -> None:
        """Start the process in a session of its own, so that a Ctrl-C reaches the control alone."""
        self.worker = launch.worker
        self.log = launch.log
        child_read, self._write_fd = os.pipe()
        self.read_fd, child_write = os.pipe()
        os.set_blocking(self.read_fd, False)
        self._buffer = LineBuffer()
        self._ended = False
        bootstrap = launch.agent_path / "envdyno" / "agent" / "bootstrap.py"
        command = [
            str(launch.python),
            "-I",
            "-S",
            str(bootstrap),
            str(launch.python),
            str(child_read),
            str(child_write),
            json.dumps(launch.placement.to_json()),
        ]
        try:
            with launch.log.open("ab") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=(child_read, child_write),
                    env={**launch.environ, TOKEN_VARIABLE: launch.token},
                    cwd=launch.cwd,
                    start_new_session=True,
                )
        except OSError as error:
            self.close_pipes()
            raise RunFailed(
                Failure(
                    FailureKind.LAUNCH,
                    launch.worker,
                    "start",
                    f"Worker {launch.worker} cannot be started with {launch.python}: "
                    f"{error.strerror or error}.",
                )
            ) from error
        finally:
            os.close(child_read)
            os.close(child_write)

    @property
    def pid(self) -> int:
        """Id of the process, and of its process group."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Exit status, negative for a signal; ``None`` while it runs."""
        return self._process.poll()

    @property
    def torn(self) -> bool:
        """Whether half a message has arrived."""
        return self._buffer.torn

    def send(self, kind: ToWorker, /, **body: Any) -> None:
        """Send one message. A worker that is gone is found by its exit, not here."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._write_fd, encode(kind, body))

    def read_lines(self) -> tuple[list[bytes], bool]:
        """Return the lines that have arrived, and whether the pipe has ended."""
        lines: list[bytes] = []
        while not self._ended:
            try:
                chunk = os.read(self.read_fd, 1 << 16)
            except BlockingIOError:
                break
            self._ended = not chunk
            lines.extend(self._buffer.feed(chunk))
        return lines, self._ended

    def signal(self, number: int) -> None:
        """Send a signal to the worker itself, not to its children."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Wait up to ``seconds`` for the end; return the exit status or ``None``."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill the worker itself and collect it.

        Its children are ended apart (:func:`envdyno.launch.reaping.end_processes`): one of them may have to
        remove shared memory first.
        """
        self._process.kill()
        self._process.wait()

    def close_pipes(self) -> None:
        """Close this end of both pipes."""
        for fd in (self.read_fd, self._write_fd):
            with contextlib.suppress(OSError):
                os.close(fd)
