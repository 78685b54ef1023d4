"""All cases moved alike: the host, not the code.

A change of code hardly ever has the same effect on unlike cases. A change that the two sides' hosts differ
in, such as a compiler flag, a clock or a neighbour that ran beside one side only, does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from envdyno.judge.distributions import student_quantile

__all__ = ["CommonMove", "common_move"]

_MIN_CASES = 3
_ALIKE = 0.25
_LEAST_MOVE = 0.01


class CommonMove(NamedTuple):
    """A change that all cases share."""

    ratio: float
    """Geometric mean of the cases' ratios."""
    cases: int


def common_move(log_ratios: Sequence[float], half_widths: Sequence[float]) -> CommonMove | None:
    """The common change, or ``None`` if there is none.

    It is one if the mean over cases differs from zero with 99 % confidence and by more than 1 %, and if every
    case lies within a quarter of it, or within its own interval.

    Args:
        log_ratios: of each case.
        half_widths: of each case's 95 % interval, on the log scale.
    """
    moves = np.asarray(log_ratios, dtype=np.float64)
    if moves.size < _MIN_CASES:
        return None
    mean = float(moves.mean())
    error = float(moves.std(ddof=1)) / math.sqrt(moves.size)
    surely = abs(mean) > max(_LEAST_MOVE, student_quantile(0.005, moves.size - 1) * error)
    allowed = np.maximum(_ALIKE * abs(mean), np.asarray(half_widths, dtype=np.float64))
    alike = bool((np.abs(moves - mean) <= allowed).all()) and bool(
        (np.sign(moves) == math.copysign(1, mean)).all()
    )
    return CommonMove(math.exp(mean), int(moves.size)) if surely and alike else None
