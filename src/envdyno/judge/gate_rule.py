"""What a gate asks: the bound, the rule, and the exceptions, which are data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import NamedTuple

from envdyno.judge.evidence import Metric

__all__ = ["ExceptionState", "GateException", "GateRule", "Rule", "SortedExceptions", "sort_exceptions"]


class Rule(str, Enum):
    """How a ratio is held against its bound."""

    INTERVAL = "interval"
    """One-sided 95 % bounds; noise leads to UNDECIDED."""
    POINT = "point"
    """The median of the pairs' ratios, with no account of noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateException:
    """A lower bound for one case, accepted by somebody for a reason and until a day.

    Raises:
        ValueError: the case is a pattern, a field is empty, or the bound is no positive number.
    """

    case: str
    """The exact name of one case; an exception never covers another."""
    min_ratio: float
    reason: str
    owner: str
    expires: date
    """The last day on which it holds."""
    metric: Metric = Metric.TRANSITIONS_PER_S

    def __post_init__(self) -> None:
        if any(mark in self.case for mark in "*?[") or not self.case:
            raise ValueError(
                f"The exception for {self.case!r} must name exactly one case, without wildcards."
            )
        _check_ratio(self.min_ratio, f"The exception for {self.case}")
        for name in ("reason", "owner"):
            if not getattr(self, name).strip():
                raise ValueError(f"The exception for {self.case} has no {name}. It needs one to be accepted.")

    def has_expired(self, today: date) -> bool:
        """Whether its last day is over."""
        return today > self.expires


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """A gate on the ratio of every case.

    Raises:
        ValueError: a bound or level is out of range, an exception is stricter than the gate, or one case has
            two exceptions.
    """

    min_ratio: float = 0.90
    rule: Rule = Rule.INTERVAL
    metric: Metric = Metric.TRANSITIONS_PER_S
    alpha: float = 0.05
    """Chance of each kind of wrong verdict at the gate's edge."""
    min_pairs: int = 3
    max_plausible_gain: float = 1.5
    """A ratio whose whole interval is above this is not believed until the work is shown to be the same."""
    canary_limit: float = 0.05
    allow_dirty: bool = False
    exceptions: tuple[GateException, ...] = ()

    def __post_init__(self) -> None:
        _check_ratio(self.min_ratio, "The gate")
        if not 0 < self.alpha < 0.5:
            raise ValueError(f"The gate's error level must lie between 0 and 0.5, and is {self.alpha}.")
        if self.min_pairs < 2:
            raise ValueError(f"A verdict needs at least two pairs; the gate asks for {self.min_pairs}.")
        for exception in self.exceptions:
            if exception.min_ratio > self.min_ratio:
                raise ValueError(
                    f"The exception for {exception.case} asks for {exception.min_ratio}, more than the "
                    f"gate's {self.min_ratio}. An exception can only lower the bound."
                )
        keys = [(exception.case, exception.metric) for exception in self.exceptions]
        twice = sorted({case for case, metric in keys if keys.count((case, metric)) > 1})
        if twice:
            raise ValueError(f"These cases have more than one exception: {', '.join(twice)}.")


class ExceptionState(str, Enum):
    """What became of an exception."""

    USED = "used"
    NOT_NEEDED = "not_needed"
    """In force, and the case met the ordinary gate."""
    EXPIRED = "expired"
    UNMATCHED = "unmatched"
    """Its case is not part of this experiment, or it is for another metric."""


class SortedExceptions(NamedTuple):
    """A gate's exceptions by what they do in one experiment."""

    in_force: dict[str, GateException]
    """By case."""
    expired: tuple[GateException, ...]
    unmatched: tuple[GateException, ...]
    """Also expired ones of other cases: a stale entry does not redden a run that it has no part in."""


def sort_exceptions(rule: GateRule, cases: Iterable[str], today: date) -> SortedExceptions:
    """Which exceptions apply to which of the cases on a day."""
    names = set(cases)
    in_force: dict[str, GateException] = {}
    expired: list[GateException] = []
    unmatched: list[GateException] = []
    for exception in rule.exceptions:
        if exception.case not in names or exception.metric is not rule.metric:
            unmatched.append(exception)
        elif exception.has_expired(today):
            expired.append(exception)
        else:
            in_force[exception.case] = exception
    return SortedExceptions(in_force, tuple(expired), tuple(unmatched))


def _check_ratio(ratio: float, whose: str) -> None:
    if not (math.isfinite(ratio) and ratio > 0):
        raise ValueError(
            f"{whose} needs a positive ratio, such as 0.9 for a loss of at most 10 %; got {ratio}."
        )
