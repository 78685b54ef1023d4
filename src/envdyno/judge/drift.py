"""Did the machine, or the ratio, move while the pairs were run?

Runs of both sides of a case are put in order of time. A least-squares fit of their log rates with the side as
one term and time as another finds a steady trend; with a step between two runs instead of time, a batch
shift. The step that fits best is sought, and its p-value multiplied by the number of places it could have
been at (Bonferroni). Of a trend and a shift, the one that leaves less unexplained is named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from envdyno.judge.distributions import Floats, student_upper_tail
from envdyno.judge.evidence import CaseEvidence, Metric, RunSample, Side
from envdyno.judge.paired_ratio import fit_pairs
from envdyno.judge.pairing import PairSet
from envdyno.judge.variance_sources import LEAST_SPREAD

__all__ = [
    "DRIFT_ALPHA",
    "DRIFT_LIMIT",
    "Drift",
    "DriftKind",
    "machine_drift",
    "position_effect",
    "ratio_trend",
    "regress",
]

DRIFT_ALPHA = 0.01
"""Chance of an alarm where there is no drift and noise is normal."""
DRIFT_LIMIT = 0.02
"""Total changes up to 2 % are no alarm, however sure they are."""

_MIN_RUNS = 6
_MIN_BESIDE_STEP = 2
_LEAST_SQUARE = 1e-9
"""Of a step after constant and side are taken out: below, it is made of these two."""


class DriftKind(str, Enum):
    """What moved, and how."""

    TREND = "trend"
    """Both sides, steadily."""
    SHIFT = "shift"
    """Both sides, from one run to the next."""
    RATIO = "ratio"
    """The ratio, steadily over the pairs."""
    POSITION = "position"
    """The second place in a pair against the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A movement that was looked for, found or not."""

    kind: DriftKind
    change: float
    """Its size over the whole experiment, as a fraction: -0.3 for a loss of 30 %."""
    p: float
    after_run: int | None = None
    """For a shift: the number of runs before it, in order of time."""
    at_pair: int | None = None
    """For a shift: the pair in which the first run after it is."""
    canary_change: float | None = None
    """How the canary moved by the same measure, where every run had one: alike, and it was the host."""

    @property
    def is_alarming(self) -> bool:
        """Whether it is both sure and large enough to be told."""
        return self.p < DRIFT_ALPHA and abs(self.change) > DRIFT_LIMIT


class Coefficient(NamedTuple):
    """The last coefficient of a least-squares fit."""

    value: float
    p: float
    """Two-sided, for zero."""
    residual: float
    """Sum of squares that stays unexplained."""


def regress(y: Floats, columns: Sequence[Floats]) -> Coefficient | None:
    """Fit ``y`` by a constant and the columns; ``None`` if they cannot be told apart or leave no freedom."""
    design = np.column_stack([np.ones_like(y), *columns])
    df = y.size - design.shape[1]
    if df < 1 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    solution, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual = float(((y - design @ solution) ** 2).sum())
    variance = max(residual / df, LEAST_SPREAD**2)
    error = math.sqrt(variance * float(np.linalg.inv(design.T @ design)[-1, -1]))
    value = float(solution[-1])
    return Coefficient(value, min(1.0, 2 * float(student_upper_tail(abs(value) / error, df))), residual)


def machine_drift(evidence: CaseEvidence, metric: Metric = Metric.TRANSITIONS_PER_S) -> Drift | None:
    """The better of a trend and a shift over all usable runs of a case; ``None`` with fewer than six runs."""
    runs = [run for run in (*evidence.of(Side.BASE), *evidence.of(Side.HEAD)) if run.rate(metric) is not None]
    runs.sort(key=lambda run: run.started_at_s)
    if len(runs) < _MIN_RUNS:
        return None
    y = np.log(np.asarray([run.rate(metric) for run in runs], dtype=np.float64))
    side = np.asarray([run.side is Side.HEAD for run in runs], dtype=np.float64)
    candidates = [found for found in (_trend(y, side), _shift(y, side, runs)) if found is not None]
    if not candidates:
        return None
    drift = min(candidates, key=lambda found: found[0])[1]
    return replace(drift, canary_change=_canary_change(drift, runs))


def ratio_trend(pairs: PairSet, metric: Metric = Metric.TRANSITIONS_PER_S) -> Drift | None:
    """Whether the log ratio moves over the pairs; ``None`` with fewer than four."""
    d = pairs.log_ratios(metric)
    if d.size < 4:
        return None
    order = np.asarray(pairs.head_first, dtype=np.float64)
    index = np.arange(d.size, dtype=np.float64)
    both_orders = d.size >= _MIN_RUNS and 0 < order.sum() < d.size
    found = regress(d, [order, index] if both_orders else [index])
    if found is None:
        return None
    return Drift(kind=DriftKind.RATIO, change=math.expm1(found.value * (d.size - 1)), p=found.p)


def position_effect(pairs: PairSet, metric: Metric = Metric.TRANSITIONS_PER_S) -> Drift | None:
    """What the second place in a pair gains or costs; ``None`` where it cannot be estimated."""
    d = pairs.log_ratios(metric)
    fit = fit_pairs(d, pairs.head_first) if d.size >= 2 else None
    if fit is None or fit.position_effect is None:
        return None
    effect = float(fit.position_effect)
    variance = max(float(fit.residual.variance), LEAST_SPREAD**2)
    t = abs(effect) / math.sqrt(variance * fit.scale)
    p = min(1.0, 2 * float(student_upper_tail(t, fit.residual.df)))
    return Drift(kind=DriftKind.POSITION, change=math.expm1(effect), p=p)


def _canary_change(drift: Drift, runs: Sequence[RunSample]) -> float | None:
    canaries = [run.canary_per_s for run in runs if run.canary_per_s is not None]
    if len(canaries) < len(runs):
        return None
    y, index = np.log(np.asarray(canaries, dtype=np.float64)), np.arange(len(runs), dtype=np.float64)
    if drift.after_run is not None:
        return math.expm1(float(y[drift.after_run :].mean() - y[: drift.after_run].mean()))
    found = regress(y, [index])
    return None if found is None else math.expm1(found.value * (len(runs) - 1))


def _trend(y: Floats, side: Floats) -> tuple[float, Drift] | None:
    found = regress(y, [side, np.arange(y.size, dtype=np.float64)])
    if found is None:
        return None
    change = math.expm1(found.value * (y.size - 1))
    return found.residual, Drift(kind=DriftKind.TREND, change=change, p=found.p)


def _explained_by_steps(y: Floats, side: Floats) -> dict[int, float]:
    """Return, by place, the sum of squares that a step there explains beside a constant and the side.

    A step at k is the column whose first k rows are 0 and whose others are 1. What it explains is the square
    of its product with the rest of ``y`` over its own square, each after constant and side are taken out
    (Frisch and Waugh 1933); both are sums from k to the end, so that all places together cost as much as one.
    Places where a step cannot be told from constant and side are left out.
    """
    if y.size <= 3 or not 0 < float(side.sum()) < y.size:
        return {}
    basis, _ = np.linalg.qr(np.column_stack([np.ones_like(y), side]))
    rest = y - basis @ (basis.T @ y)
    places = np.arange(_MIN_BESIDE_STEP, y.size - _MIN_BESIDE_STEP + 1)
    product = _sums_to_the_end(rest)[places]
    square = (y.size - places) - (_sums_to_the_end(basis)[places] ** 2).sum(axis=-1)
    told = square > _LEAST_SQUARE
    return dict(zip(places[told].tolist(), (product[told] ** 2 / square[told]).tolist(), strict=True))


def _sums_to_the_end(x: Floats) -> Floats:
    return np.cumsum(x[::-1], axis=0)[::-1]


def _shift(y: Floats, side: Floats, runs: Sequence[RunSample]) -> tuple[float, Drift] | None:
    explained = _explained_by_steps(y, side)
    if not explained:
        return None
    k = max(explained, key=explained.__getitem__)
    best = regress(y, [side, (np.arange(y.size) >= k).astype(np.float64)])
    if best is None:
        return None
    return best.residual, Drift(
        kind=DriftKind.SHIFT,
        change=math.expm1(best.value),
        p=min(1.0, best.p * len(explained)),
        after_run=k,
        at_pair=runs[k].pair,
    )
