"""From runs to pairs: which two runs belong together, which pairs are left out, and why.

A pair is left out for what happened to the machine (its canary moved), or because a run is missing; never
for its result. Disturbed runs stay in the record. They are set aside where undisturbed pairs suffice, and
used, with a warning, where they do not: the mark comes from the load alone, so either choice is fair.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import product
from typing import NamedTuple

import numpy as np

from envdyno.judge.distributions import Floats
from envdyno.judge.evidence import CaseEvidence, Metric, RunKind, RunSample, Side

__all__ = ["CANARY_LIMIT", "Pair", "PairSet", "Unused", "WhyUnused", "canary_moved", "pairs_of"]

CANARY_LIMIT = 0.05
"""A pair is void if the canary's log ratio between its two runs is farther from zero than this."""


class WhyUnused(str, Enum):
    """Why a pair has no part in the ratio."""

    INCOMPLETE = "incomplete"
    """A run of one side is missing or has no such figure."""
    CANARY_MOVED = "canary_moved"
    DISTURBED = "disturbed"
    """Foreign load in every try, and enough undisturbed pairs without it."""


class Pair(NamedTuple):
    """One run of each side, close in time."""

    number: int
    base: RunSample
    head: RunSample

    @property
    def head_first(self) -> bool:
        """Whether the head side ran before the base side."""
        return self.head.position < self.base.position

    @property
    def is_disturbed(self) -> bool:
        """Whether foreign load was above its limit in either run."""
        return self.base.disturbed or self.head.disturbed

    @property
    def canary_log_ratio(self) -> float | None:
        """How much faster the canary was beside the head run; ``None`` unless both runs had one."""
        if self.base.canary_per_s is None or self.head.canary_per_s is None:
            return None
        return math.log(self.head.canary_per_s / self.base.canary_per_s)

    def log_ratio(self, metric: Metric = Metric.TRANSITIONS_PER_S) -> float:
        """Log of head over base.

        Raises:
            ValueError: a run has no such figure.
        """
        base, head = self.base.rate(metric), self.head.rate(metric)
        if base is None or head is None:
            raise ValueError(f"Pair {self.number} of {self.base.case} has no {metric.value} on both sides.")
        return math.log(head / base)


class Unused(NamedTuple):
    """A pair that was planned or run and is not part of the ratio."""

    number: int
    why: WhyUnused


class PairSet(NamedTuple):
    """The pairs of one case in the order of their numbers, and those left out."""

    used: tuple[Pair, ...]
    unused: tuple[Unused, ...]

    @property
    def head_first(self) -> tuple[bool, ...]:
        """For each used pair, whether head ran first."""
        return tuple(pair.head_first for pair in self.used)

    def log_ratios(self, metric: Metric = Metric.TRANSITIONS_PER_S) -> Floats:
        """Log ratio of each used pair, shape (n,)."""
        return np.asarray([pair.log_ratio(metric) for pair in self.used], dtype=np.float64)

    def canary_log_ratios(self) -> Floats | None:
        """The canary's log ratio of each used pair, or ``None`` unless every pair has one."""
        ratios = [pair.canary_log_ratio for pair in self.used]
        known = [ratio for ratio in ratios if ratio is not None]
        return np.asarray(known, dtype=np.float64) if known and len(known) == len(ratios) else None

    def first(self, n: int) -> PairSet:
        """The first n used pairs, for a look in the middle of an experiment."""
        return PairSet(self.used[:n], self.unused)


def canary_moved(pair: Pair, limit: float = CANARY_LIMIT) -> bool:
    """Whether the canary says that the machine changed within the pair, which voids it."""
    moved = pair.canary_log_ratio
    return moved is not None and abs(moved) > limit


def pairs_of(
    evidence: CaseEvidence,
    metric: Metric = Metric.TRANSITIONS_PER_S,
    kind: RunKind = RunKind.THROUGHPUT,
    enough: int = 3,
    canary_limit: float = CANARY_LIMIT,
) -> PairSet:
    """Put the usable runs of a case into pairs.

    Where a pair was repeated, the tries with no foreign load, then those of one attempt, then the earliest
    are preferred.

    Args:
        evidence: the case's runs, in any order.
        metric: the figure that both runs must have; for attribution runs none is asked for.
        kind: which runs to pair.
        enough: with this many undisturbed pairs, disturbed ones are set aside.
        canary_limit: see :data:`CANARY_LIMIT`.
    """
    runs: dict[int, dict[Side, list[RunSample]]] = defaultdict(lambda: {Side.BASE: [], Side.HEAD: []})
    for run in evidence.runs:
        if run.kind is kind:
            has_figure = run.is_usable and (kind is RunKind.ATTRIBUTION or run.rate(metric) is not None)
            runs[run.pair][run.side] += [run] if has_figure else []
    numbers = set(runs) | (set(range(evidence.planned_pairs or 0)) if kind is RunKind.THROUGHPUT else set())
    chosen: list[Pair] = []
    unused: list[Unused] = []
    for number in sorted(numbers):
        pair = _best_pair(number, runs[number][Side.BASE], runs[number][Side.HEAD], canary_limit)
        if pair is None:
            unused.append(Unused(number, WhyUnused.INCOMPLETE))
        elif canary_moved(pair, canary_limit):
            unused.append(Unused(number, WhyUnused.CANARY_MOVED))
        else:
            chosen.append(pair)
    return _without_disturbed(chosen, unused, enough)


def _best_pair(
    number: int, base: Iterable[RunSample], head: Iterable[RunSample], canary_limit: float
) -> Pair | None:
    candidates = [Pair(number, b, h) for b, h in product(base, head)]

    def demerits(pair: Pair) -> tuple[bool, int, bool, int, float]:
        return (
            canary_moved(pair, canary_limit),
            pair.base.disturbed + pair.head.disturbed,
            pair.base.attempt != pair.head.attempt,
            pair.base.attempt + pair.head.attempt,
            pair.base.started_at_s + pair.head.started_at_s,
        )

    return min(candidates, key=demerits, default=None)


def _without_disturbed(pairs: Sequence[Pair], unused: list[Unused], enough: int) -> PairSet:
    calm = [pair for pair in pairs if not pair.is_disturbed]
    if len(calm) < enough:
        return PairSet(tuple(pairs), tuple(unused))
    unused += [Unused(pair.number, WhyUnused.DISTURBED) for pair in pairs if pair.is_disturbed]
    return PairSet(tuple(calm), tuple(sorted(unused)))
