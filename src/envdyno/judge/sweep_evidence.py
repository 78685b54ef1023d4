"""What a sweep measured, in the shape that the judge takes, and which of its runs are used.

A run is set aside for what happened to the machine, never for its result: its canary differs from that of
its block, or it was disturbed and there are enough undisturbed ones of its setting.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from envdyno.judge.distributions import Floats
from envdyno.judge.pairing import CANARY_LIMIT
from envdyno.record.setting import Setting

ENOUGH = 3
"""With this many undisturbed runs of a setting, its disturbed ones are set aside. With fewer blocks than
this, nothing is told apart."""


class SweepRun(NamedTuple):
    """One run that was made and is valid."""

    setting: Setting
    block: int
    """From 0."""
    transitions_per_s: float
    disturbed: bool = False
    canary_per_s: float | None = None
    attempt: int = 0


class SweepEvidence(NamedTuple):
    """All runs of a grid."""

    settings: tuple[Setting, ...]
    """Those that were planned."""
    blocks: int
    """Runs of each setting that were planned."""
    runs: tuple[SweepRun, ...]
    workers: Mapping[Setting, int] = {}
    """Workers in all, where they are not those a node."""

    def threads_in_all(self, setting: Setting) -> int:
        """Return the threads of all workers together."""
        return setting.threads * self.workers.get(setting, setting.workers_per_node)


class UsedRuns(NamedTuple):
    """The runs that count, one at most of each setting and block."""

    log_rates: Floats
    """Shape (settings, blocks); NaN where there is none."""
    disturbed: int
    """Of those, how many were disturbed."""
    canary_moved: int
    """Cells of the grid that are left out for their canary."""
    set_aside: int
    """Cells that are left out for foreign load, enough others being without."""


def used_runs(evidence: SweepEvidence, canary_limit: float = CANARY_LIMIT) -> UsedRuns:
    """Choose the runs that count."""
    canaries = _block_canaries(evidence.runs)
    by_cell: dict[tuple[Setting, int], list[SweepRun]] = defaultdict(list)
    moved: set[tuple[Setting, int]] = set()
    for run in evidence.runs:
        cell = run.setting, run.block
        if _moved(run, canaries, canary_limit):
            moved.add(cell)
        else:
            by_cell[cell].append(run)
    log_rates = np.full((len(evidence.settings), evidence.blocks), math.nan)
    disturbed = set_aside = 0
    for row, setting in enumerate(evidence.settings):
        best = [
            min(by_cell[setting, block], key=lambda run: (run.disturbed, run.attempt))
            for block in range(evidence.blocks)
            if by_cell.get((setting, block))
        ]
        calm = [run for run in best if not run.disturbed]
        chosen = calm if len(calm) >= ENOUGH else best
        set_aside += len(best) - len(chosen)
        disturbed += sum(run.disturbed for run in chosen)
        for run in chosen:
            log_rates[row, run.block] = math.log(run.transitions_per_s)
    return UsedRuns(log_rates, disturbed, len(moved - by_cell.keys()), set_aside)


def _block_canaries(runs: Sequence[SweepRun]) -> dict[int, float]:
    """Return the median canary of every block."""
    found: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        if run.canary_per_s is not None:
            found[run.block].append(run.canary_per_s)
    return {block: _median(speeds) for block, speeds in found.items()}


def _median(values: Iterable[float]) -> float:
    return float(np.median(list(values)))


def _moved(run: SweepRun, canaries: Mapping[int, float], limit: float) -> bool:
    beside = canaries.get(run.block)
    return bool(run.canary_per_s and beside and abs(math.log(run.canary_per_s / beside)) > limit)
