"""What every vector step of a window completed, and when."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from envdyno.agent.workloads.contract import Tally, is_count

CHUNK_STEPS = 1 << 16
"""Steps between two looks at the size of the log."""
PENDING_CHUNKS = 16
"""Up to here nothing is added up inside the window. A workload that takes more than a million vector
steps in a window is so fast that adding up, some 50 ns a step, has to happen on the way."""
RAW_STEPS = 1 << 22
"""Completion times kept as raw samples (32 MiB); later ones are counted but not kept."""

Outcome = Tally | int | None


def as_tally(outcome: Outcome, num_envs: int) -> Tally:
    """Return what a workload's ``step`` returned as a full tally.

    Raises:
        TypeError: the workload returned something that the contract does not know.
        ValueError: the counts are negative, or more rows than there are.
    """
    if outcome is None:
        return Tally(num_envs)
    if not isinstance(outcome, Tally):
        if not is_count(outcome):
            raise TypeError(
                "The workload's step() returned "
                f"{type(outcome).__name__}; it has to return a Tally, the number of transitions, or None."
            )
        outcome = Tally(int(outcome), max(0, num_envs - int(outcome)))
    transitions, reset_rows = outcome.transitions, outcome.reset_rows
    if transitions < 0 or reset_rows < 0 or transitions + reset_rows > num_envs:
        raise ValueError(
            f"The workload's step() says that {outcome.transitions} of its {num_envs} environments made a "
            f"transition and {outcome.reset_rows} were reset rows."
        )
    return outcome


@dataclass
class Totals:
    """Sums over vector steps. ``None`` where any of the steps did not tell."""

    steps: int = 0
    transitions: int = 0
    reset_rows: int = 0
    episodes: int | None = 0
    nonfinite_rows: int | None = 0
    reward_sum: float | None = 0.0
    nonfinite_rewards: int = 0
    """Vector steps whose summed reward was NaN or infinite; these are left out of ``reward_sum``."""

    def add(self, tally: Tally) -> None:
        """Add one vector step. Array scalars become Python's own numbers: sums neither wrap nor round."""
        self.steps += 1
        self.transitions += int(tally.transitions)
        self.reset_rows += int(tally.reset_rows)
        self.episodes = _plus(self.episodes, tally.episodes)
        self.nonfinite_rows = _plus(self.nonfinite_rows, tally.nonfinite_rows)
        if tally.reward_sum is not None and not math.isfinite(tally.reward_sum):
            self.nonfinite_rewards += 1
        elif self.reward_sum is not None:
            self.reward_sum = None if tally.reward_sum is None else self.reward_sum + float(tally.reward_sum)


def _plus(total: int | None, value: int | None) -> int | None:
    return None if total is None or value is None else total + int(value)


@dataclass
class StepLog:
    """Completion times (ns) and tallies of consecutive vector steps, cut into equal sub-windows.

    A step belongs to the window when it completes after ``start_ns`` and not after ``end_ns``; to
    sub-window k when it completes after its lower and not after its upper edge.
    """

    num_envs: int
    start_ns: int
    end_ns: int
    sub_windows: int
    totals: Totals = field(default_factory=Totals)
    raw_times_ns: array[int] = field(default_factory=lambda: array("q"))
    series: list[int] = field(init=False)
    """Transitions completed in each sub-window."""
    _pending: list[tuple[array[int], list[Outcome]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with empty sub-windows."""
        self.series = [0] * self.sub_windows

    def new_chunk(self) -> tuple[array[int], list[Outcome]]:
        """Return the two buffers that the stepping loop appends to."""
        if len(self._pending) >= PENDING_CHUNKS:
            self.fold()
        chunk: tuple[array[int], list[Outcome]] = (array("q"), [])
        self._pending.append(chunk)
        return chunk

    def fold(self) -> None:
        """Add up and forget the chunks so far."""
        for times, outcomes in self._pending:
            inside = slice(bisect_right(times, self.start_ns), bisect_right(times, self.end_ns))
            self._add(times[inside], outcomes[inside])
        self._pending.clear()

    def _add(self, times: array[int], outcomes: Sequence[Outcome]) -> None:
        room = RAW_STEPS - len(self.raw_times_ns)
        self.raw_times_ns.extend(times[:room])
        span = self.end_ns - self.start_ns
        begin = 0
        for index in range(self.sub_windows):
            edge = self.start_ns + span * (index + 1) // self.sub_windows
            end = bisect_right(times, edge)
            before = self.totals.transitions
            self._add_outcomes(outcomes[begin:end])
            self.series[index] += self.totals.transitions - before
            begin = end

    def _add_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        silent = outcomes.count(None)
        if silent == len(outcomes):
            # The workload tells nothing: every row was a transition.
            self.totals.steps += silent
            self.totals.transitions += silent * self.num_envs
            if silent:
                self.totals.episodes = self.totals.nonfinite_rows = self.totals.reward_sum = None
            return
        for outcome in outcomes:
            self.totals.add(as_tally(outcome, self.num_envs))
