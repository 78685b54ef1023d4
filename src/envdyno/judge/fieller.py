"""An interval for the ratio of two means that were measured together (Fieller 1954)."""

from __future__ import annotations

import math

import numpy as np

from envdyno.judge.distributions import Floats, student_quantile

__all__ = ["fieller_interval"]


def fieller_interval(numerator: Floats, denominator: Floats, tail: float) -> tuple[float, float] | None:
    """Interval for ``mean(numerator) / mean(denominator)`` from n >= 2 joint observations.

    Returns:
        ``None`` if the mean of the denominator is not told from zero, for then no bounded interval exists.
    """
    n = numerator.size
    covariance = np.cov(np.stack([numerator, denominator]), ddof=1) / n
    top, bottom = float(numerator.mean()), float(denominator.mean())
    t2 = student_quantile(tail, n - 1) ** 2
    a = bottom**2 - t2 * float(covariance[1, 1])
    if a <= 0:
        return None
    b = top * bottom - t2 * float(covariance[0, 1])
    c = top**2 - t2 * float(covariance[0, 0])
    root = math.sqrt(max(0.0, b * b - a * c))
    return (b - root) / a, (b + root) / a
