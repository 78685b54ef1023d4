"""What the records of an experiment say so far: what is settled, tried, begun, or given up.

Everything that decides what is run next is read from the records, so that an experiment that was killed at
any moment goes on as if it had not been.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from envdyno.agent.job import Timing
from envdyno.plan.expand import PlannedRun
from envdyno.record.experiment import ExperimentEntry
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

FAILED = frozenset({Status.FAILED, Status.TIMEOUT, Status.KILLED, Status.INVALID})
"""The workload did not do what was asked of it."""
GIVEN_UP_AFTER = 2
"""So many failed runs of one side in a row, and the rest of the case is left: each may cost a deadline."""


class _Pair(NamedTuple):
    case: str
    timing: str
    pair: int


class _Streak(NamedTuple):
    case: str
    timing: str
    side: str


class CanaryUnit(Enum):
    """Which runs a canary is held against."""

    PAIR = "pair"
    """Those of the same pair."""
    BLOCK = "block"
    """Those of the same block of a sweep, which has one run of every case."""


@dataclass
class History:
    """The records of an experiment, and what follows from them."""

    canary_unit: CanaryUnit = CanaryUnit.PAIR
    records: list[RunRecord] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)
    """Ids of planned runs that have their final record."""
    _of: dict[str, list[RunRecord]] = field(default_factory=lambda: defaultdict(list))
    _begun: set[_Pair] = field(default_factory=set)
    _canary: dict[_Pair, float | None] = field(default_factory=dict)
    _streaks: dict[_Streak, list[RunRecord]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, records: Iterable[RunRecord], canary_unit: CanaryUnit = CanaryUnit.PAIR) -> History:
        """Take in the records of earlier sessions; those of no experiment are passed over."""
        history = cls(canary_unit)
        for record in records:
            history.add(record)
        return history

    def add(self, record: RunRecord) -> None:
        """Take in one record."""
        entry = record.experiment
        if entry is None:
            return
        self.records.append(record)
        self._of[entry.planned_id].append(record)
        if entry.final:
            self.settled.add(entry.planned_id)
        if record.status is not Status.SKIPPED:
            self._add_made(record, entry)

    def _add_made(self, record: RunRecord, entry: ExperimentEntry) -> None:
        pair = _Pair(entry.case, record.case.timing, entry.pair)
        self._begun.add(pair)
        if not entry.final:
            return
        self._canary[self._beside(pair)] = entry.canary_per_s
        streak = self._streaks[_Streak(entry.case, record.case.timing, entry.side)]
        if record.status in FAILED:
            streak.append(record)
        else:
            streak.clear()

    def attempts(self, run: PlannedRun) -> int:
        """Return how often a planned run was tried."""
        return sum(record.status is not Status.SKIPPED for record in self._of[run.id])

    def failures(self, run: PlannedRun) -> int:
        """Return how often it failed."""
        return sum(record.status in FAILED for record in self._of[run.id])

    def disturbed(self, run: PlannedRun) -> int:
        """Return how often it was measured while other work loaded the machine."""
        return sum(
            record.status is Status.OK and record.experiment is not None and record.experiment.disturbed
            for record in self._of[run.id]
        )

    def was_skipped(self, run: PlannedRun, reason: str) -> bool:
        """Return whether the last that is known of a run is that it was skipped for this reason."""
        records = self._of[run.id]
        failure = records[-1].failure if records else None
        return (
            bool(records)
            and records[-1].status is Status.SKIPPED
            and failure is not None
            and (failure.message == reason)
        )

    def is_begun(self, run: PlannedRun) -> bool:
        """Return whether any run of its pair was made."""
        return _Pair(run.case, run.timing.value, run.pair) in self._begun

    def canary_of_pair(self, run: PlannedRun) -> float | None:
        """Return the canary's speed beside the latest run of the pair or block; ``None`` without one."""
        return self._canary.get(self._beside(_Pair(run.case, run.timing.value, run.pair)))

    def _beside(self, pair: _Pair) -> _Pair:
        return pair if self.canary_unit is CanaryUnit.PAIR else pair._replace(case="")

    def given_up(self, run: PlannedRun) -> str | None:
        """Return why no more runs of this kind of a case are made; ``None`` as long as they are.

        Without throughput there is no ratio, and phases have nothing to explain.
        """
        kinds = {Timing.THROUGHPUT.value, run.timing.value}
        for streak, failed in self._streaks.items():
            if streak.case == run.case and streak.timing in kinds and len(failed) >= GIVEN_UP_AFTER:
                cause = failed[0].failure.message if failed[0].failure else "its figures were not valid."
                return f"Side {streak.side} failed {len(failed)} times in a row. The first cause: {cause}"
        return None
