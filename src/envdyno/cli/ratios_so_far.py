"""The ratios that an experiment has come to so far, by the judge's own pairs and interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from envdyno.judge.estimate import RatioEstimate, estimate_ratio, known_noise
from envdyno.judge.evidence import CaseEvidence, RunKind, RunSample, Side
from envdyno.judge.from_records import run_sample
from envdyno.judge.pairing import pairs_of
from envdyno.record.counted import counted
from envdyno.record.run_record import RunRecord


class RatiosSoFar:
    """Takes the runs of an experiment one by one.

    What is told is not yet the verdict's: the noise that the machine is known for, and the correction for
    several cases, may make the interval wider.
    """

    def __init__(self, base: str, others: Sequence[str]) -> None:
        """Compare each of the other sides with the base."""
        self._base = base
        self._others = tuple(others)
        self._runs: dict[tuple[str, str], list[RunSample]] = defaultdict(list)
        self._known: dict[str, dict[str, RatioEstimate]] = defaultdict(dict)

    def take(self, record: RunRecord) -> list[str]:
        """Take one run; return the ratios that have another pair by it, where that tells of the spread."""
        entry = record.experiment
        if entry is None or record.throughput is None or record.case.timing != RunKind.THROUGHPUT.value:
            return []
        side = Side.BASE if entry.side == self._base else Side.HEAD
        self._runs[entry.case, entry.side].append(run_sample(record, side))
        before = {other: one.n for other, one in self._known[entry.case].items()}
        for other in self._others:
            found = self._estimate(entry.case, other)
            if found is not None:
                self._known[entry.case][other] = found
        return [
            _text(self._base, other, one)
            for other, one in self._known[entry.case].items()
            if one.interval is not None and one.n > before.get(other, 0)
        ]

    def _estimate(self, case: str, other: str) -> RatioEstimate | None:
        runs = (*self._runs[case, self._base], *self._runs[case, other])
        pairs = pairs_of(CaseEvidence(case=case, runs=runs))
        return estimate_ratio(pairs, known_noise((), pairs))

    def texts(self, first: str) -> list[str]:
        """Return a line for every case that has a ratio, that of case ``first`` in front."""
        cases = (first, *(case for case in self._known if case != first))
        return [
            f"{case}: " + ", ".join(_text(self._base, other, one) for other, one in known.items())
            for case in cases
            if (known := self._known.get(case))
        ]


def _text(base: str, other: str, estimate: RatioEstimate) -> str:
    interval = estimate.interval
    spread = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
    return f"{other}/{base} {estimate.ratio:.3f}{spread} of {counted(estimate.n, 'pair')}"
