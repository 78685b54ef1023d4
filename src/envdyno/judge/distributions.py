"""Student's t and the few special functions that the judge needs, for arrays and for real degrees of freedom.

Only ``scipy.special`` is imported, and only when a number is asked for: ``scipy.stats`` takes more than a
second to import, which a command that prints help or a plan should not pay.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
"""An array of float64 of any shape; functions that take it also take a plain float (a 0-d array)."""


def _special() -> Any:
    import scipy.special  # type: ignore[import-untyped, unused-ignore]

    return scipy.special


def student_upper_tail(t: Floats | float, df: float) -> Floats:
    """P(T >= t) for Student's t with ``df`` degrees of freedom; ``math.inf`` gives the normal one."""
    values = -np.asarray(t, dtype=np.float64)
    special = _special()
    tail = special.ndtr(values) if math.isinf(df) else special.stdtr(df, values)
    return np.asarray(tail, dtype=np.float64)


def mean_interval(values: Floats, tail: float) -> tuple[float, float] | None:
    """Student's interval for the mean of values that are independent; ``None`` for fewer than two.

    Args:
        values: shape (n,).
        tail: probability outside on each side.
    """
    if values.size < 2:
        return None
    mean = float(values.mean())
    width = student_quantile(tail, values.size - 1) * float(values.std(ddof=1)) / math.sqrt(values.size)
    return mean - width, mean + width


def student_quantile(upper_tail: float, df: float) -> float:
    """The t that is exceeded with probability ``upper_tail`` (0 < upper_tail < 1)."""
    if not 0.0 < upper_tail < 1.0:
        raise ValueError(f"A tail probability lies between 0 and 1, and {upper_tail!r} does not.")
    special = _special()
    return -float(special.ndtri(upper_tail) if math.isinf(df) else special.stdtrit(df, upper_tail))


def digamma(x: float) -> float:
    """Derivative of log gamma; enters the expected value of the log of a sample variance."""
    return float(_special().digamma(x))


def trigamma(x: float) -> float:
    """Second derivative of log gamma: the variance of the log of a gamma variable with shape ``x``."""
    return float(_special().polygamma(1, x))


def trigamma_inverse(y: float) -> float:
    """The x > 0 with ``trigamma(x) == y``, by Newton's method on 1/trigamma (Smyth 2004, appendix)."""
    if y > 1e7:
        return 1.0 / math.sqrt(y)
    if y < 1e-6:
        return 1.0 / y
    x = 0.5 + 1.0 / y
    for _ in range(50):
        value = trigamma(x)
        step = value * (1.0 - value / y) / float(_special().polygamma(2, x))
        x += step
        if -step / x < 1e-10:
            break
    return x
