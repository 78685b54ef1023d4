"""The first cause of a failed run, as a person needs it."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from envdyno.record.printable import printable

LOG_TAIL_LINES = 20
LOG_TAIL_BYTES = 16_384


class FailureKind(str, Enum):
    """How a worker failed."""

    USAGE = "usage"
    """What was asked for cannot be had; exit code 2."""
    EXCEPTION = "exception"
    EXIT = "exit"
    """The process ended by itself before its work was done."""
    SIGNAL = "signal"
    DEADLINE = "deadline"
    PROTOCOL = "protocol"
    """It wrote something else than messages to the private pipe, or half a message."""
    PLACEMENT = "placement"
    """A binding was not applied as asked, and ``--strict-placement`` was given."""
    LATE = "late"
    """It could not be told of the window in time."""
    LAUNCH = "launch"
    """The process could not be started."""


@dataclass(frozen=True)
class Failure:
    """What failed first: worker, stage and cause."""

    kind: FailureKind
    worker: int
    stage: str
    message: str
    """One finished sentence or more."""
    exception: str | None = None
    traceback: str | None = None
    signal: str | None = None
    exit_code: int | None = None
    log_tail: tuple[str, ...] = ()

    def with_log(self, log: Path) -> Failure:
        """Return the failure with the end of the worker's log."""
        return replace(self, log_tail=tail(log))


class RunFailed(Exception):
    """A run ended by a failure."""

    def __init__(self, failure: Failure) -> None:
        """Carry the failure."""
        super().__init__(failure.message)
        self.failure = failure


class Interrupted(Exception):
    """The user asked to end (SIGINT or SIGTERM)."""

    def __init__(self, number: int) -> None:
        """Carry the number of the signal."""
        super().__init__(f"Interrupted by {signal.Signals(number).name}.")
        self.number = number


def tail(log: Path, lines: int = LOG_TAIL_LINES) -> tuple[str, ...]:
    """Return the last lines of a log, made safe to show; none where there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - LOG_TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(map(printable, text.splitlines()[-lines:]))


def from_exit(worker: int, stage: str, returncode: int) -> Failure:
    """Return the failure of a worker that ended without a word, from its exit status."""
    if returncode < 0:
        name = _signal_name(-returncode)
        hint = " This may be the kernel's out-of-memory killer: possibly out of memory." * (
            -returncode == signal.SIGKILL
        )
        return Failure(
            FailureKind.SIGNAL,
            worker,
            stage,
            f"Worker {worker} was killed by {name} in stage {stage}.{hint}",
            signal=name,
        )
    return Failure(
        FailureKind.EXIT,
        worker,
        stage,
        f"Worker {worker} ended by itself in stage {stage} with exit code {returncode}, "
        "before its work was done.",
        exit_code=returncode,
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def from_message(worker: int, message: dict[str, object]) -> Failure:
    """Return the failure that a worker reported itself."""
    stage = str(message.get("stage"))
    text = str(message.get("message") or "").strip()
    exception = str(message.get("exception"))
    if message.get("kind") == FailureKind.USAGE.value:
        return Failure(FailureKind.USAGE, worker, stage, text or f"{exception}.", exception)
    traceback = message.get("traceback")
    cause = f"{exception}: {text}" if text else exception
    return Failure(
        FailureKind.EXCEPTION,
        worker,
        stage,
        f"Worker {worker} failed in stage {stage}: {cause.rstrip('.')}.",
        exception,
        None if traceback is None else str(traceback),
    )
