"""Which settings of a sweep may be the best: comparisons with the best, paired by block.

Every setting is held against the one that did best, by the log ratios of the blocks that both were run in:
what slows the machine for the length of a block cancels. A setting may be the best unless its upper bound
lies below 1. The bounds of all settings hold together, with 95 % confidence: each errs with a probability of
5 % over the number of the others (Bonferroni's form of the subset selection of Gupta 1965, "On some multiple
decision (selection and ranking) rules", and of Hsu 1984, "Constrained simultaneous confidence intervals for
multiple comparisons with the best"). So the setting that is truly the best is among those named, with 95 %
confidence, however many there are.

Three blocks say little about the noise of one setting, and the whole grid says more. Each setting's variance,
taken from what is left over when settings and blocks are taken out, is moderated by those of all others as in
Smyth 2004 (see :mod:`envdyno.judge.variance_sources`): where settings are alike in noise they borrow from
each other, where they are not each stands by itself. Where the two settings of a comparison spread more than
that, their own spread holds. Simulations are in ``benchmarks/sweep.py``.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

import numpy as np

from envdyno.judge.distributions import Floats, student_quantile
from envdyno.judge.knee import NEAR_BEST
from envdyno.judge.pairing import CANARY_LIMIT
from envdyno.judge.sweep_evidence import ENOUGH, SweepEvidence, UsedRuns, used_runs
from envdyno.judge.variance_sources import LEAST_SPREAD, prior_from_cases
from envdyno.record.setting import Setting

ALPHA = 0.05
_FIT_ROUNDS = 100
_MIN_RUNS = 2
"""Of a setting, for its spread to say anything."""

__all__ = [
    "ALPHA",
    "Comparisons",
    "SettingResult",
    "Standing",
    "SweepResult",
    "compare_with_best",
    "judge_sweep",
]


class Standing(str, Enum):
    """What is known of a setting against the best one."""

    BEST = "best"
    """The one that did best."""
    EQUAL = "equal"
    """May be the best as well: these runs cannot tell it from the best."""
    SLOWER = "slower"
    UNDECIDED = "undecided"
    """Too few runs in the same blocks as the best to tell."""
    NOT_MEASURED = "not_measured"


class Comparisons(NamedTuple):
    """Every setting against the best; all shapes (..., settings), logs of ratios to the best."""

    best: Floats
    """Number of the setting that did best, shape (...)."""
    log_ratio: Floats
    half_width: Floats
    """Infinite where too few blocks are shared."""
    shared: Floats
    """Blocks in which both were run."""


class SettingResult(NamedTuple):
    """One setting."""

    setting: Setting
    standing: Standing
    n: int
    """Runs that count."""
    median_per_s: float | None
    log_ratio: float | None
    """To the best; ``None`` where it was never run in the same block."""
    half_width: float | None
    """``None`` where too few blocks are shared."""


class SweepResult(NamedTuple):
    """What a sweep tells."""

    settings: tuple[SettingResult, ...]
    """In the order of the plan."""
    blocks: int
    best: SettingResult | None
    """``None`` where nothing was measured."""
    cheapest: SettingResult | None
    """Of those that may be the best and came near it, the one with the fewest threads in all, then the
    smallest batch, then the fewest workers; ``None`` where nothing can be told."""
    resolution: float | None
    """The smallest loss, as a share, that these runs show for a typical setting."""
    used: UsedRuns

    @property
    def is_decided(self) -> bool:
        """Whether there were blocks enough to tell settings apart."""
        return self.cheapest is not None

    def named(self, standing: Standing) -> tuple[SettingResult, ...]:
        """Return the settings of one standing."""
        return tuple(one for one in self.settings if one.standing is standing)


def compare_with_best(log_rates: Floats, alpha: float = ALPHA) -> Comparisons:
    """Compare every setting with the best, shape (..., settings, blocks), NaN where there is no run.

    Works on the last two axes, so that a simulation judges thousands of sweeps with the code that judges one.
    At least one figure has to be there in each sweep.
    """
    y = np.asarray(log_rates, dtype=np.float64)
    there = np.isfinite(y)
    setting, block = _fitted(y, there)
    best = np.argmax(_where_enough(setting, there), axis=-1)
    residual = np.where(there, y - setting[..., None] - block[..., None, :], 0.0)
    measured = there.any(axis=-1)
    df = there.sum(axis=(-2, -1)) - measured.sum(axis=-1) - there.any(axis=-2).sum(axis=-1) + 1
    noise = _noise((residual**2).sum(axis=-1), there.sum(axis=-1), df)
    own_best = np.take_along_axis(y, best[..., None, None], axis=-2)
    d = y - own_best
    shared = np.isfinite(d)
    n = shared.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(shared, d, 0.0).sum(axis=-1) / n
        own = np.where(shared, (d - mean[..., None]) ** 2, 0.0).sum(axis=-1) / (n - 1)
        others = np.maximum(1, measured.sum(axis=-1) - 1)
        both = noise.variance + np.take_along_axis(noise.variance, best[..., None], axis=-1)
        variance = np.maximum(np.maximum(own, both), LEAST_SPREAD**2)
        width = _quantiles(alpha, others, noise.df)[..., None] * np.sqrt(variance / n)
    enough = (n >= ENOUGH) & (df >= 1)[..., None]
    return Comparisons(
        best=np.asarray(best),
        log_ratio=np.where(n > 0, mean, math.nan),
        half_width=np.where(enough, width, math.inf),
        shared=np.asarray(n),
    )


class _Noise(NamedTuple):
    """Variance of one run's log rate, by setting, and the degrees of freedom behind it, by sweep."""

    variance: Floats
    df: Floats


def _noise(squares: Floats, runs: Floats, df: Floats) -> _Noise:
    """Return the moderated variance of every setting.

    Args:
        squares: sum of each setting's squared residuals, shape (..., settings).
        runs: number of each setting's runs.
        df: of all residuals together, shape (...).
    """
    settings = squares.shape[-1]
    flat = zip(squares.reshape(-1, settings), runs.reshape(-1, settings), np.ravel(df), strict=True)
    found = [_moderated(*one) for one in flat]
    variances = np.asarray([variance for variance, _ in found], dtype=np.float64)
    return _Noise(
        variances.reshape(squares.shape),
        np.asarray([own for _, own in found], dtype=np.float64).reshape(np.shape(df)),
    )


def _moderated(squares: Floats, runs: Floats, df: float) -> tuple[Floats, float]:
    """Return the variance of every setting of one sweep, and the degrees of freedom behind it."""
    if df < 1:
        return np.full(squares.shape, math.inf), 0.0
    own_df = (
        runs * df / runs.sum()
    )  # a residual is worth less than a run, for settings and blocks were fitted
    several = runs >= _MIN_RUNS
    own = np.divide(squares, own_df, out=np.zeros_like(squares), where=own_df > 0)
    prior = prior_from_cases(own[several].tolist(), own_df[several].tolist())
    if prior is None:
        return np.full(squares.shape, squares.sum() / df), float(df)
    variance = (prior.df * prior.variance + own_df * own) / (prior.df + own_df)
    return variance, float(min(df, prior.df + own_df[several].min()))


def _where_enough(setting: Floats, there: Floats) -> Floats:
    """Return the fitted settings without those that have too few runs, where any has enough."""
    enough = there.sum(axis=-1) >= ENOUGH
    keep = enough | ~enough.any(axis=-1, keepdims=True)
    return np.where(keep, setting, -math.inf)


def _fitted(y: Floats, there: Floats) -> tuple[Floats, Floats]:
    """Fit ``setting + block`` by least squares; settings without a figure get minus infinity.

    Alternating means: exact at once where no run is missing, and by iteration elsewhere.
    """
    values = np.where(there, y, 0.0)
    per_setting, per_block = there.sum(axis=-1), there.sum(axis=-2)
    block = np.zeros(per_block.shape)
    setting = np.zeros(per_setting.shape)
    rounds = 2 if bool(there.all()) else _FIT_ROUNDS
    for _ in range(rounds):
        left = np.where(there, values - block[..., None, :], 0.0)
        setting = left.sum(axis=-1) / np.maximum(1, per_setting)
        left = np.where(there, values - setting[..., None], 0.0)
        block = left.sum(axis=-2) / np.maximum(1, per_block)
    return np.where(per_setting > 0, setting, -math.inf), block


def _quantiles(alpha: float, others: Floats, df: Floats) -> Floats:
    """Return the t that each comparison's error exceeds with probability ``alpha / others``."""
    pairs = zip(np.ravel(others), np.ravel(df), strict=True)
    flat = [student_quantile(alpha / float(o), float(f)) if f > 0 else math.inf for o, f in pairs]
    return np.asarray(flat, dtype=np.float64).reshape(np.shape(others))


def judge_sweep(
    evidence: SweepEvidence, alpha: float = ALPHA, canary_limit: float = CANARY_LIMIT
) -> SweepResult:
    """Say which settings may be the best.

    Args:
        evidence: all runs of the sweep.
        alpha: chance that the setting that is truly the best is called slower.
        canary_limit: a canary that differs by more from that of its block, as a log ratio, has moved.
    """
    used = used_runs(evidence, canary_limit)
    if not np.isfinite(used.log_rates).any():
        nothing = tuple(
            SettingResult(setting, Standing.NOT_MEASURED, 0, None, None, None)
            for setting in evidence.settings
        )
        return SweepResult(nothing, evidence.blocks, None, None, None, used)
    found = compare_with_best(used.log_rates, alpha)
    results = tuple(_result(evidence, used, found, row) for row in range(len(evidence.settings)))
    best = results[int(found.best)]
    decided = best.n >= ENOUGH
    if not decided:
        results = tuple(
            one._replace(standing=Standing.UNDECIDED) if one.standing is Standing.SLOWER else one
            for one in results
        )
    near = [
        one
        for one in results
        if one.standing in (Standing.BEST, Standing.EQUAL) and (one.log_ratio or 0.0) >= math.log(NEAR_BEST)
    ]
    widths = [one.half_width for one in results if one.half_width and one.standing is not Standing.BEST]
    return SweepResult(
        settings=results,
        blocks=evidence.blocks,
        best=best,
        cheapest=min(near, key=lambda one: _cost(evidence, one)) if decided else None,
        resolution=1 - math.exp(-float(np.median(widths))) if widths and decided else None,
        used=used,
    )


def _cost(evidence: SweepEvidence, one: SettingResult) -> tuple[int, int, int]:
    setting = one.setting
    return evidence.threads_in_all(setting), setting.num_envs, setting.workers_per_node


def _result(evidence: SweepEvidence, used: UsedRuns, found: Comparisons, row: int) -> SettingResult:
    figures = used.log_rates[row][np.isfinite(used.log_rates[row])]
    setting = evidence.settings[row]
    if not figures.size:
        return SettingResult(setting, Standing.NOT_MEASURED, 0, None, None, None)
    ratio, width = float(found.log_ratio[row]), float(found.half_width[row])
    if row == int(found.best):
        standing, ratio, width = Standing.BEST, 0.0, 0.0
    elif not math.isfinite(width):
        standing = Standing.UNDECIDED
    else:
        standing = Standing.EQUAL if ratio + width >= 0 else Standing.SLOWER
    return SettingResult(
        setting=setting,
        standing=standing,
        n=int(figures.size),
        median_per_s=math.exp(float(np.median(figures))),
        log_ratio=ratio if math.isfinite(ratio) else None,
        half_width=width if math.isfinite(width) else None,
    )
