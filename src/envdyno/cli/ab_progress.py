"""What an experiment shows while it runs: the run in hand, the time left, and the ratios so far."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

from envdyno.agent.measure.quantile import median
from envdyno.plan.expand import PlannedRun
from envdyno.plan.quantities import format_duration
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status
from envdyno.report.progress import ProgressLine


class ExperimentProgress:
    """Feeds the progress line, and tells every run that ends in one line."""

    def __init__(self, line: ProgressLine, tell: Callable[[str], None] | None, total: int) -> None:
        """Show on ``line``; ``tell`` writes a line for a person, ``None`` stays silent."""
        self._line = line
        self._tell = tell
        self._total = total
        self._width = len(str(total))
        self._began = time.monotonic()
        self._made = 0
        self._number = 0
        self._rates: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
        self._first_side: str | None = None

    def look(self, run: PlannedRun) -> None:
        """A side is built once, before anything is measured."""
        self._first_side = self._first_side or run.side
        self._line.begin(f"before measuring: {run.case}, side {run.side}")

    def begin(self, run: PlannedRun, done: int, total: int) -> None:
        """A planned run begins."""
        self._number = done + 1
        left = ""
        if self._made:
            each = (time.monotonic() - self._began) / self._made
            left = f", about {format_duration(each * (total - done))} at most"
        ratios = self._ratio_of(run.case)
        self._line.begin(
            f"{done + 1} of {total}{left}   {run.case}, pair {run.pair}, side {run.side}{ratios}"
        )

    def _ratio_of(self, case: str) -> str:
        pairs = [rates for (name, _pair), rates in self._rates.items() if name == case and len(rates) == 2]
        ratios = []
        for rates in pairs:
            first = self._first_side if self._first_side in rates else next(iter(rates))
            (other,) = (side for side in rates if side != first)
            ratios.append(rates[other] / rates[first])
        return f", ratio so far {median(ratios):.3f}" if ratios else ""

    def end(self, record: RunRecord) -> None:
        """A run ended."""
        entry = record.experiment
        if entry is None:
            return
        self._made += record.status is not Status.SKIPPED
        if record.throughput is not None and record.case.timing == "throughput":
            self._rates[entry.case, entry.pair][entry.side] = record.throughput.transitions_per_s
        if self._tell is not None and record.status is not Status.SKIPPED:
            self._tell(self._line_of(record))

    def _line_of(self, record: RunRecord) -> str:
        entry = record.experiment
        assert entry is not None
        number = f"[{self._number:>{self._width}}/{self._total}]"
        what = f"{entry.case}  pair {entry.pair}  {entry.side}"
        if record.throughput is None:
            reason = record.failure.message if record.failure else "no figure"
            return f"{number} {what}  {record.status.value}: {reason}"
        kind = "  phases on" if record.case.timing == "attribution" else ""
        again = "" if entry.final else ", will be repeated"
        load = record.machine.foreign_cores_chosen if record.machine else 0.0
        disturbed = f"  ! disturbed by {load:.2f} cores of other work{again}" if entry.disturbed else ""
        return f"{number} {what}  {record.throughput.transitions_per_s:,.0f} transitions/s{kind}{disturbed}"
