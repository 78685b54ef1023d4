"""Where a series of figures changed its level: the places between which it is one level.

Binary segmentation (Scott and Knott 1974; Sen and Srivastava 1975): the cut that splits a stretch best is
kept if the two parts differ by Student's t at 1 %, Bonferroni-corrected for the places it could have been at,
and by more than a least size; then each part is looked at by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from envdyno.judge.distributions import student_upper_tail

ALPHA = 0.01
LEAST_CHANGE = 0.02
"""Of the figure; smaller changes are not marked, however sure."""
LEAST_SPREAD = 1e-3
"""As a fraction: figures of different days that seem equal to all digits are no certainty."""
MIN_PART = 2


def change_points(values: Sequence[float]) -> tuple[int, ...]:
    """Return the indices at which a new level begins.

    Args:
        values: positive, finite figures in order of time, without holes.
    """
    logs = np.log(np.asarray(values, dtype=np.float64))
    return tuple(sorted(_cuts(logs, 0)))


def _cuts(x: npt.NDArray[np.float64], offset: int) -> list[int]:
    places = range(MIN_PART, x.size - MIN_PART + 1)
    if not places:
        return []
    best = min(places, key=lambda place: _within(x[:place]) + _within(x[place:]))
    before, after = x[:best], x[best:]
    if not _differ(before, after, len(places)):
        return []
    return [*_cuts(before, offset), offset + best, *_cuts(after, offset + best)]


def _within(x: npt.NDArray[np.float64]) -> float:
    return float(((x - x.mean()) ** 2).sum())


def _differ(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], places: int) -> bool:
    change = float(b.mean() - a.mean())
    if abs(math.expm1(change)) <= LEAST_CHANGE:
        return False
    # The pooled spread, for a part of two says next to nothing of its own.
    degrees = a.size + b.size - 2
    variance = max((_within(a) + _within(b)) / degrees, LEAST_SPREAD**2)
    t = abs(change) / math.sqrt(variance * (1 / a.size + 1 / b.size))
    return bool(2 * float(student_upper_tail(t, degrees)) * places < ALPHA)
