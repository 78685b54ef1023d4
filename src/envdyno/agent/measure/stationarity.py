"""Is a series steady, or does it still rise or fall?

Two answers are wanted at once: is there a trend beyond chance (Mann 1945, Kendall 1975), and is it large
enough to matter (Sen 1968, the median of all pairwise slopes). Both are rank statistics, so a few slow
steps do not decide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from envdyno.agent.measure.quantile import median

MINIMUM_POINTS = 6
"""With fewer points no trend reaches the level below."""
SIGNIFICANCE_Z = 2.576
"""Two-sided 1 % of the normal distribution."""
RELEVANT_CHANGE = 0.05
"""A drift over the whole series smaller than this share of its median is not reported."""


@dataclass(frozen=True)
class Trend:
    """Outcome of the test on one series."""

    points: int
    relative_change: float
    """Sen's slope times the length of the series, over its median: 0.1 is a rise of a tenth."""
    z: float
    """Mann and Kendall's statistic, normal with unit variance where there is no trend."""

    @property
    def steady(self) -> bool:
        """False when the trend is both significant and large enough to matter."""
        return abs(self.z) < SIGNIFICANCE_Z or abs(self.relative_change) < RELEVANT_CHANGE


def trend(series: Sequence[float]) -> Trend | None:
    """Return the trend of ``series``, or ``None`` where it is too short or its median is not positive."""
    count = len(series)
    if count < MINIMUM_POINTS:
        return None
    centre = median(series)
    if not centre > 0:
        return None
    slopes: list[float] = []
    score = 0
    for first in range(count - 1):
        for second in range(first + 1, count):
            difference = series[second] - series[first]
            slopes.append(difference / (second - first))
            score += (difference > 0) - (difference < 0)
    variance = count * (count - 1) * (2 * count + 5) / 18
    # The continuity correction of Kendall, "Rank Correlation Methods": the score moves in steps of two.
    z = (score - (score > 0) + (score < 0)) / math.sqrt(variance)
    return Trend(count, median(slopes) * (count - 1) / centre, z)


def block_medians(durations: Sequence[float], blocks: int) -> list[float]:
    """Cut ``durations`` into ``blocks`` runs of (nearly) equal length and return the median of each."""
    blocks = min(blocks, len(durations))
    edges = [len(durations) * index // blocks for index in range(blocks + 1)] if blocks else [0]
    return [median(durations[begin:end]) for begin, end in itertools.pairwise(edges)]
