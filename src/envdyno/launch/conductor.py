"""Leads the workers of one run through their stages, side by side.

One thread, one loop: it waits for messages, for the end of processes, for deadlines, for signals and for
the edges of the window, whichever comes first. The first cause of a failure ends the run; what follows
from it (a neighbour's broken pipe) is never taken for the cause.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from envdyno.agent.protocol import FromWorker, ProtocolError, ToWorker, decode
from envdyno.agent.stages import Stage
from envdyno.launch.deadlines import Deadlines
from envdyno.launch.failure import Failure, FailureKind, Interrupted, RunFailed, from_exit, from_message
from envdyno.launch.interrupts import Interrupts
from envdyno.launch.process import WorkerProcess

TICK_S = 0.25
"""Longest sleep of the loop, so that processes without a pidfd and deadlines are looked at."""
STACK_DUMP_S = 0.5
"""Time for a worker that hangs to write its stacks to the log."""
EXIT_AFTER_PIPE_S = 1.0
"""The pipe of a process that ends is seen to end before the process itself."""
POLITE_END_S = 1.5
"""Time for healthy workers to close when another one failed."""


@dataclass
class WorkerState:
    """How far one worker has come, and what it has told."""

    process: WorkerProcess
    stage: Stage = Stage.START
    stage_since: float = 0.0
    messages: dict[FromWorker, dict[str, Any]] = field(default_factory=dict)
    exit_status: int | None = None
    pidfd: int | None = None
    pipe_ended_at: float | None = None

    def told(self, kind: FromWorker) -> bool:
        """Return whether a message of this kind has arrived."""
        return kind in self.messages


class Watcher(Protocol):
    """Follows a run as it goes: the progress line."""

    @property
    def follows_rate(self) -> bool:
        """Whether workers are to tell how fast they step while they are measured."""

    def stage(self, worker: int, stage: Stage) -> None:
        """A worker entered a stage."""

    def rate(self, worker: int, rows_per_s: float) -> None:
        """A worker steps so many rows a second just now."""

    def tick(self) -> None:
        """Time has passed."""


class Conductor:
    """Leads started workers through one run.

    Args:
        processes: the workers, in order.
        deadlines: how long each stage may take.
        interrupts: signals to look out for.
        watcher: told of every stage.
        clock: seconds on the monotonic clock.
    """

    def __init__(
        self,
        processes: Sequence[WorkerProcess],
        deadlines: Deadlines,
        interrupts: Interrupts,
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Register the pipes, and a pidfd for each process where the kernel has them (pidfd_open(2))."""
        self._deadlines = deadlines
        self._window_since: float | None = None
        self._window_s = 0.0
        self._interrupts = interrupts
        self._watcher = watcher
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self.states = [WorkerState(process, stage_since=clock()) for process in processes]
        self._selector.register(interrupts.read_fd, selectors.EVENT_READ)
        for state in self.states:
            self._selector.register(state.process.read_fd, selectors.EVENT_READ)
            if hasattr(os, "pidfd_open"):
                with contextlib.suppress(OSError):
                    state.pidfd = os.pidfd_open(state.process.pid)
                    self._selector.register(state.pidfd, selectors.EVENT_READ)

    def close(self) -> None:
        """Release the selector and the pidfds."""
        self._selector.close()
        for state in self.states:
            if state.pidfd is not None:
                os.close(state.pidfd)
                state.pidfd = None

    @property
    def follows_rate(self) -> bool:
        """Whether somebody watches how fast the workers step."""
        return self._watcher.follows_rate

    def send_all(self, kind: ToWorker, /, **body: Any) -> None:
        """Send the same message to every worker."""
        for state in self.states:
            state.process.send(kind, **body)

    def begin_window(self, expected_s: float) -> None:
        """Let the deadline of the window run from now; ``expected_s`` is granted on top of it.

        Until then a worker that is ready may step for as long as its neighbours need to build.
        """
        self._window_since = self._clock()
        self._window_s = expected_s

    def await_all(self, kind: FromWorker) -> None:
        """Wait until every worker has told ``kind``.

        Raises:
            RunFailed: a worker failed, ended or passed a deadline first.
            Interrupted: the user asked to end.
        """
        while not all(state.told(kind) for state in self.states):
            self._turn(self._clock() + TICK_S)

    def await_exits(self) -> None:
        """Wait until every worker process has ended, each within the deadline of its last stage."""
        while any(state.exit_status is None for state in self.states):
            self._turn(self._clock() + TICK_S)

    def sleep_until(self, instant: float) -> None:
        """Keep the watch until ``instant`` on the conductor's clock."""
        while (now := self._clock()) < instant:
            self._turn(min(instant, now + TICK_S))

    def _turn(self, until: float) -> None:
        """Wait for something to happen, up to ``until``, and take it in."""
        self._selector.select(max(0.0, until - self._clock()))
        self._check_interrupts()
        for state in self.states:
            self._take_messages(state)
        for state in self.states:
            self._check_exit(state)
            self._check_pipe(state)
        for state in self.states:
            self._check_deadline(state)
        self._watcher.tick()

    def _check_interrupts(self) -> None:
        self._interrupts.drain()
        if (number := self._interrupts.due) is not None:
            raise Interrupted(number)

    def _take_messages(self, state: WorkerState) -> None:
        try:
            lines, ended = state.process.read_lines()
            for line in lines:
                self._take(state, decode(line))
        except (ProtocolError, ValueError, KeyError) as error:
            raise RunFailed(
                self._failure(state, FailureKind.PROTOCOL, f"spoke out of turn. {error}")
            ) from error
        if ended and state.pipe_ended_at is None:
            state.pipe_ended_at = self._clock()
            # An ended pipe is always readable: waiting on it would spin.
            self._selector.unregister(state.process.read_fd)

    def _take(self, state: WorkerState, message: dict[str, Any]) -> None:
        kind = FromWorker(message["type"])
        if kind is FromWorker.FAILED:
            raise RunFailed(from_message(state.process.worker, message).with_log(state.process.log))
        if kind is FromWorker.STAGE:
            self._enter(state, Stage(message["stage"]))
            return
        if kind is FromWorker.PULSE:
            self._watcher.rate(state.process.worker, float(message["rows_per_s"]))
            return
        if kind is FromWorker.PLACED:
            self._enter(state, Stage.BIND)
        state.messages[kind] = message

    def _enter(self, state: WorkerState, stage: Stage) -> None:
        state.stage = stage
        state.stage_since = self._clock()
        self._watcher.stage(state.process.worker, stage)

    def _check_exit(self, state: WorkerState) -> None:
        if state.exit_status is not None or (status := state.process.returncode) is None:
            return
        # Its last words may have arrived after the pipes were read.
        self._take_messages(state)
        state.exit_status = status
        if state.pidfd is not None:
            self._selector.unregister(state.pidfd)
        if state.told(FromWorker.CLOSED):
            return
        failure = from_exit(state.process.worker, state.stage.value, status)
        foreseen = " ".join(state.messages.get(FromWorker.CAPACITY, {}).get("warnings", ()))
        if foreseen and status == -signal.SIGKILL:
            failure = replace(failure, message=f"{failure.message} {foreseen}")
        raise RunFailed(failure.with_log(state.process.log))

    def _check_pipe(self, state: WorkerState) -> None:
        """A pipe that ends while its process lives on is a failure, once the process had time to end."""
        if state.exit_status is not None or state.pipe_ended_at is None or state.told(FromWorker.CLOSED):
            return
        if self._clock() - state.pipe_ended_at > EXIT_AFTER_PIPE_S:
            torn = " in the middle of a message" * state.process.torn
            raise RunFailed(
                self._failure(state, FailureKind.PROTOCOL, f"closed its private pipe{torn} and lives on.")
            )

    def _check_deadline(self, state: WorkerState) -> None:
        if state.exit_status is not None:
            return
        since = self._window_since if state.stage is Stage.WINDOW else state.stage_since
        granted = self._deadlines.seconds(state.stage, self._window_s)
        if since is None or self._clock() - since <= granted:
            return
        if state.told(FromWorker.CLOSED):
            # Everything is measured and closed; an interpreter that does not end is only a nuisance.
            state.process.kill()
            return
        state.process.signal(signal.SIGUSR2)
        time.sleep(STACK_DUMP_S)
        text = (
            f"did not finish stage {state.stage.value} within {granted:g} s. Its log ends with the stacks of "
            f"all its threads. If it only needs longer, give --deadline {state.stage.value}=SECONDS."
        )
        raise RunFailed(self._failure(state, FailureKind.DEADLINE, text))

    def _failure(self, state: WorkerState, kind: FailureKind, text: str) -> Failure:
        worker = state.process.worker
        message = f"Worker {worker} {text}"
        return Failure(kind, worker, state.stage.value, message).with_log(state.process.log)

    def end_all(self) -> None:
        """End every worker: ask first, then kill. Never raises."""
        for state in self.states:
            if state.process.returncode is None:
                state.process.signal(signal.SIGTERM)
        patience = time.monotonic() + POLITE_END_S
        for state in self.states:
            state.process.wait(max(0.0, patience - time.monotonic()))
            state.process.kill()
