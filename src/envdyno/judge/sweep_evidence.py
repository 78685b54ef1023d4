"""What a sweep measured, in the shape that the judge takes, and which of its runs are used.

A run is set aside for what happened to the machine, never for its result: its canary differs from that of
its block, or it was disturbed by foreign load. That is done where enough runs of its setting are left without
it; where they are not, such runs count, and it is said. The marks come from the machine alone, so either is
fair.
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
"""With this many clean runs of a setting, its others are set aside. With fewer blocks than this, nothing is
told apart."""


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
    """Of those, how many had a canary that differed from that of their block."""
    set_aside: int
    """Runs that do not count, for enough of their setting were neither."""


class _Candidate(NamedTuple):
    """A run, and what speaks against it, the gravest first."""

    moved: bool
    disturbed: bool
    attempt: int
    run: SweepRun

    @property
    def is_clean(self) -> bool:
        return not self.moved and not self.disturbed


def used_runs(evidence: SweepEvidence, canary_limit: float = CANARY_LIMIT) -> UsedRuns:
    """Choose the runs that count."""
    canaries = _block_canaries(evidence.runs)
    by_cell: dict[tuple[Setting, int], list[_Candidate]] = defaultdict(list)
    for run in evidence.runs:
        moved = _moved(run, canaries, canary_limit)
        by_cell[run.setting, run.block].append(_Candidate(moved, run.disturbed, run.attempt, run))
    log_rates = np.full((len(evidence.settings), evidence.blocks), math.nan)
    used: list[_Candidate] = []
    set_aside = 0
    for row, setting in enumerate(evidence.settings):
        cells = [by_cell[setting, block] for block in range(evidence.blocks) if (setting, block) in by_cell]
        best = [min(cell, key=lambda one: one[:3]) for cell in cells]
        clean = [one for one in best if one.is_clean]
        chosen = clean if len(clean) >= ENOUGH else best
        set_aside += len(best) - len(chosen)
        used += chosen
        for one in chosen:
            log_rates[row, one.run.block] = math.log(one.run.transitions_per_s)
    return UsedRuns(
        log_rates=log_rates,
        disturbed=sum(one.disturbed for one in used),
        canary_moved=sum(one.moved for one in used),
        set_aside=set_aside,
    )


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
