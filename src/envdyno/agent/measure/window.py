"""The common window: step without pause, and log what completes between two instants.

Every worker of a run gets the same two instants of ``CLOCK_MONOTONIC``, which all processes of a machine
share (clock_gettime(2)). It steps before the first and after the second, so that no worker is measured
beside an idle neighbour, as JMH does with synchronised iterations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from envdyno.agent.measure.pulse import Pulse
from envdyno.agent.measure.step_log import CHUNK_STEPS, StepLog

Step = Callable[[Any], Any]
Clock = Callable[[], int]


@dataclass(frozen=True)
class Edges:
    """Instants, in ns of the monotonic clock, between which a worker's steps were logged."""

    start_ns: int
    end_ns: int


class EdgeReader(Protocol):
    """Reads something at both edges of the logged steps: running totals, timers."""

    def open(self) -> None:
        """Read at the first edge."""

    def close(self, vector_steps: int) -> None:
        """Read at the last edge, ``vector_steps`` later."""


class Stepper:
    """The stepping loop around one workload.

    Args:
        step: the workload's ``step``.
        actions: batches of actions, used in turn.
        clock: monotonic nanoseconds.
        synchronize: waits for all work in flight; absent for workloads that return when they are done.
        readers: read at both edges of a window, between two vector steps; closed in the reverse order.
    """

    def __init__(
        self,
        step: Step,
        actions: Sequence[Any],
        clock: Clock,
        synchronize: Callable[[], None] | None = None,
        readers: Sequence[EdgeReader] = (),
    ) -> None:
        """Remember what to step."""
        self._step = step
        self._ring: Iterator[Any] = itertools.cycle(actions)
        self._clock = clock
        self._synchronize = synchronize
        self._readers = tuple(readers)

    def once(self) -> Any:
        """Take one vector step; return its outcome."""
        return self._step(next(self._ring))

    def timed_once(self) -> tuple[int, Any]:
        """Take one vector step to its very end; return its duration in ns and its outcome."""
        began_ns = self._clock()
        outcome = self._step(next(self._ring))
        if self._synchronize is not None:
            self._synchronize()
        return self._clock() - began_ns, outcome

    def until(self, told: Callable[[], bool]) -> None:
        """Step without pause until ``told`` returns true, asking after every step."""
        while not told():
            self.once()

    def log_window(self, log: StepLog, tell_rate: Callable[[float], None] | None = None) -> Edges:
        """Step from now until after the end of ``log``'s window; return the edges that were used.

        The edges are the window's own, unless the workload has to be synchronised: then they are the
        instants at which nothing was in flight, the first at or after each edge of the window.

        Args:
            log: takes what every step completed.
            tell_rate: gets vector steps a second, twice a second, for whoever watches; ``None`` leaves the
                loop whole.
        """
        start_ns = self._step_up_to(log)
        for reader in self._readers:
            reader.open()
        taken = self._log_up_to(log, None if tell_rate is None else Pulse(tell_rate, self._clock()))
        if self._synchronize is not None:
            self._synchronize()
            log.end_ns = self._clock()
        for reader in reversed(self._readers):
            reader.close(taken)
        return Edges(start_ns, log.end_ns)

    def _step_up_to(self, log: StepLog) -> int:
        """Step until the start of the window. The step that crosses it completes inside: it is logged."""
        step, clock, ring = self._step, self._clock, self._ring
        while True:
            outcome = step(next(ring))
            now = clock()
            if now > log.start_ns:
                break
        if self._synchronize is not None:
            self._synchronize()
            log.start_ns = clock()
            return log.start_ns
        times, outcomes = log.new_chunk()
        times.append(now)
        outcomes.append(outcome)
        return log.start_ns

    def _log_up_to(self, log: StepLog, pulse: Pulse | None) -> int:
        """Step and log until a step completes after the window; return the steps taken."""
        step, clock, ring, end_ns = self._step, self._clock, self._ring, log.end_ns
        taken = 0
        while True:
            times, outcomes = log.new_chunk()
            add_time, add_outcome = times.append, outcomes.append
            while (left := CHUNK_STEPS - len(times)) > 0:
                stretch = left if pulse is None else pulse.stretch(left)
                for actions in itertools.islice(ring, stretch):
                    outcome = step(actions)
                    now = clock()
                    add_time(now)
                    add_outcome(outcome)
                    if now > end_ns:
                        return taken + len(times)
                if pulse is not None:
                    pulse.beat(stretch, now)
            taken += CHUNK_STEPS
