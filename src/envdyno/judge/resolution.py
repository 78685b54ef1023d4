"""How small a change could these pairs have shown, and how many more would settle the question?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from envdyno.judge.distributions import student_quantile
from envdyno.judge.paired_ratio import MIN_FOR_POSITION, PairedFit, VarianceSource

__all__ = ["MOST_PAIRS", "POWER", "as_change", "detectable_log_ratio", "more_pairs", "smallest_change"]

POWER = 0.80
"""A change is called visible if four of five such experiments would show it."""

MOST_PAIRS = 200
"""More pairs than this are never advised: the ratio then lies at the gate, for all that can be measured."""


def as_change(log_ratio: float) -> float:
    """A log ratio as the fraction by which a rate falls: 0.01 for a loss of 1 %."""
    return -math.expm1(-abs(log_ratio))


def detectable_log_ratio(sd: float, pairs: int, tail: float = 0.05, power: float = POWER) -> float:
    """The true log ratio that pairs with a spread of ``sd`` show with the given power.

    By the usual sum of two t quantiles, which stands for the noncentral t closely enough for a statement
    that begins with "about" (Cohen 1988).

    Raises:
        ValueError: fewer than two pairs.
    """
    if pairs < 2:
        raise ValueError(f"A spread needs at least two pairs, and {pairs} are planned.")
    return _quantiles(_df(pairs), tail, power) * sd / math.sqrt(pairs)


def smallest_change(
    fit: PairedFit, sources: Sequence[VarianceSource], tail: float = 0.05, power: float = POWER
) -> float:
    """The smallest loss that these pairs could show, as a fraction: 0.011 for 1.1 %."""
    return as_change(
        max(
            _quantiles(source.df, tail, power) * float(fit.standard_error(source))
            for source in (fit.residual, *sources)
        )
    )


def more_pairs(
    fit: PairedFit,
    sources: Sequence[VarianceSource],
    log_gate: float,
    tail: float = 0.05,
    power: float = POWER,
) -> int | None:
    """About how many pairs more would decide the case, if ratio and spread stay as they are now.

    Returns:
        At least 1, or ``None`` if even :data:`MOST_PAIRS` would not do.
    """
    distance = abs(float(fit.mean) - log_gate)
    opinions = (fit.residual, *sources)
    for pairs in range(fit.n + 1, MOST_PAIRS + 1):
        gained = _df(pairs) - _df(fit.n)
        if all(
            _quantiles(source.df + gained, tail, power) * math.sqrt(float(source.variance) / pairs)
            <= distance
            for source in opinions
        ):
            return pairs - fit.n
    return None


def _df(pairs: int) -> int:
    return pairs - 2 if pairs >= MIN_FOR_POSITION else pairs - 1


def _quantiles(df: float, tail: float, power: float) -> float:
    return student_quantile(tail, df) + student_quantile(1 - power, df)
