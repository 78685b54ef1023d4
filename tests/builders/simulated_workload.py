"""A workload in fake time that a worker builds by name, as it builds any other."""

from __future__ import annotations

from typing import Any

from fake_clock import FakeClock
from simulated_worker import Completion, Pace, synthetic

from envdyno.agent.workloads.contract import Tally, WorkloadSpec
from envdyno.agent.workloads.synthetic import SyntheticWorkload

CLOCKS: dict[int, FakeClock] = {}
"""By worker."""
PACES: dict[int, Pace] = {}
SEEN: dict[int, list[Completion]] = {}
"""What somebody beside each worker saw."""


class Witnessed:
    """A synthetic workload whose every step is seen by a witness."""

    def __init__(self, inner: SyntheticWorkload, clock: FakeClock, seen: list[Completion]) -> None:
        self._inner, self._clock, self._seen = inner, clock, seen

    @property
    def spec(self) -> WorkloadSpec:
        return self._inner.spec

    def step(self, actions: Any) -> Tally:
        tally = self._inner.step(actions)
        self._seen.append(Completion(self._clock.ns(), tally))
        return tally

    def work(self) -> dict[str, int]:
        return self._inner.work()


def build(num_envs: int, seed: int, context: Any) -> Witnessed:
    """Build the workload of one worker."""
    worker = context.worker
    seen = SEEN[worker] = []
    return Witnessed(synthetic(PACES[worker], CLOCKS[worker]), CLOCKS[worker], seen)
