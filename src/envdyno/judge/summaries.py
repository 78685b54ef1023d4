"""Summary of repeated figures: centre, spread and outliers, with a reason wherever one is undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from envdyno.record.counted import agreeing

__all__ = ["Outlier", "OutlierClass", "Summary", "exceeds", "summarise"]

_MIN_FOR_QUARTILES = 4


class OutlierClass(str, Enum):
    """How far a value lies outside the quartiles (Tukey 1977); it is shown, and never dropped."""

    LOW_SEVERE = "low_severe"
    """Below the first quartile by more than 3 interquartile ranges."""
    LOW_MILD = "low_mild"
    """Below the first quartile by more than 1.5 interquartile ranges."""
    HIGH_MILD = "high_mild"
    HIGH_SEVERE = "high_severe"


@dataclass(frozen=True, slots=True)
class Outlier:
    """A value outside the fences, with its place in the input."""

    index: int
    value: float
    outlier_class: OutlierClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Figures of one side of one case. What is undefined is ``None`` and has its reason in ``why_null``."""

    n: int
    planned: int
    """How many figures there should have been: "n of planned"."""
    median: float | None
    """The middle value; the mean of the middle two if n is even."""
    minimum: float | None
    maximum: float | None
    mean: float | None
    cv: float | None
    """Coefficient of variation: standard deviation (n - 1) over mean."""
    iqr: float | None
    """Interquartile range, quartiles by linear interpolation (type 7 of Hyndman and Fan 1996)."""
    outliers: tuple[Outlier, ...] = ()
    why_null: Mapping[str, str] = field(default_factory=dict)


def exceeds(value: float | None, limit: float) -> bool:
    """Whether a figure lies above its limit; exactly at the limit it does not. An unknown one does not."""
    return value is not None and value > limit


def summarise(values: Sequence[float], planned: int | None = None) -> Summary:
    """Summarise repeated figures of one side.

    Args:
        values: the figures; finite, in any order.
        planned: how many were planned; the number of values if not given.
    """
    data = np.asarray(values, dtype=np.float64)
    if not np.isfinite(data).all():
        raise ValueError("A summary takes finite figures; leave out those that were not measured.")
    n = int(data.size)
    why: dict[str, str] = {}
    if n == 0:
        why = dict.fromkeys(("median", "minimum", "maximum", "mean"), "no run of this side has a figure")
    mean = float(data.mean()) if n else None
    return Summary(
        n=n,
        planned=n if planned is None else planned,
        median=float(np.median(data)) if n else None,
        minimum=float(data.min()) if n else None,
        maximum=float(data.max()) if n else None,
        mean=mean,
        cv=_cv(data, mean, why),
        iqr=_iqr(data, why),
        outliers=_outliers(data),
        why_null=why,
    )


def _cv(
    data: np.ndarray[tuple[int], np.dtype[np.float64]], mean: float | None, why: dict[str, str]
) -> float | None:
    if data.size < 2:
        why["cv"] = f"spread needs at least two runs, and there is {data.size}"
        return None
    if not mean:
        why["cv"] = "the mean is zero"
        return None
    return float(data.std(ddof=1)) / abs(mean)


def _iqr(data: np.ndarray[tuple[int], np.dtype[np.float64]], why: dict[str, str]) -> float | None:
    if data.size < _MIN_FOR_QUARTILES:
        are = agreeing(data.size, "is", "are")
        why["iqr"] = f"quartiles need at least {_MIN_FOR_QUARTILES} runs, and there {are} {data.size}"
        return None
    first, third = np.quantile(data, [0.25, 0.75])
    return float(third - first)


def _outliers(data: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[Outlier, ...]:
    if data.size < _MIN_FOR_QUARTILES:
        return ()
    first, third = (float(q) for q in np.quantile(data, [0.25, 0.75]))
    found = ((i, float(v), _class_of(float(v), first, third)) for i, v in enumerate(data))
    return tuple(Outlier(i, v, c) for i, v, c in found if c is not None)


def _class_of(value: float, first: float, third: float) -> OutlierClass | None:
    below, above, spread = first - value, value - third, third - first
    if exceeds(below, 3.0 * spread):
        return OutlierClass.LOW_SEVERE
    if exceeds(below, 1.5 * spread):
        return OutlierClass.LOW_MILD
    if exceeds(above, 3.0 * spread):
        return OutlierClass.HIGH_SEVERE
    if exceeds(above, 1.5 * spread):
        return OutlierClass.HIGH_MILD
    return None
