"""When pairs are added until a case is decided, how often may one look, and what does each look cost?

The chance of a wrong verdict is shared out over the looks, and every look is a test of its own at its share
(alpha spending by Bonferroni's inequality; for error spending in general see Lan and DeMets 1983, and
Jennison and Turnbull, "Group Sequential Methods", 2000, chapter 7). The inequality needs nothing but that
each look by itself is sound: no normality across looks, no fixed time between them. So the bound over all
looks holds for every kind of noise for which a single look holds it, and the shares give one p-value for the
whole sequence, ``min over looks of p/share``, which Holm's procedure over cases takes as it is.

One look before six pairs costs little and settles what is plain; most of the error is spent at six pairs,
the default number, where t has enough degrees of freedom to use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Look", "LookSchedule"]

MAIN_LOOK = 6
_SHARE_BEFORE, _SHARE_MAIN, _SHARE_AFTER = 0.20, 0.55, 0.25


class Look(NamedTuple):
    """One look at the evidence."""

    pairs: int
    share: float
    """Part of the total error probability that this look may spend."""


@dataclass(frozen=True, slots=True)
class LookSchedule:
    """The numbers of pairs at which an experiment may be judged; fixed before the first run.

    Raises:
        ValueError: no looks, looks not in rising order, one below two pairs, or shares that exceed one.
    """

    looks: tuple[Look, ...]

    def __post_init__(self) -> None:
        pairs = [look.pairs for look in self.looks]
        if not pairs or pairs != sorted(set(pairs)) or pairs[0] < 2:
            raise ValueError(f"Looks need rising numbers of pairs, from 2 on; {pairs} are not.")
        if min(look.share for look in self.looks) <= 0 or sum(look.share for look in self.looks) > 1 + 1e-9:
            raise ValueError("The shares of the looks must be positive, and one together at most.")

    @classmethod
    def once(cls, pairs: int) -> LookSchedule:
        """A single look at a number of pairs that was fixed beforehand."""
        return cls((Look(pairs, 1.0),))

    @classmethod
    def adaptive(cls, minimum: int = 3, maximum: int = 12) -> LookSchedule:
        """Looks from ``minimum`` to ``maximum`` pairs, a third apart: 3, 4, 5, 6, 8, 10, 12.

        Looks before six pairs share a fifth of the error, the first at six or more gets rather more than
        half, later ones share the rest; where a group is empty, the others grow in proportion.

        Raises:
            ValueError: not 2 <= minimum <= maximum.
        """
        if not 2 <= minimum <= maximum:
            raise ValueError(f"Pairs from {minimum} to {maximum} are no range from two on.")
        ladder = [minimum]
        while ladder[-1] < maximum:
            step = max(1, ladder[-1] // 3)
            after = ladder[-1] + step
            ladder.append(MAIN_LOOK if ladder[-1] < MAIN_LOOK < after else min(after, maximum))
        return cls(_with_shares(ladder))

    @property
    def minimum(self) -> int:
        """Pairs at the first look."""
        return self.looks[0].pairs

    @property
    def maximum(self) -> int:
        """Pairs at the last look."""
        return self.looks[-1].pairs

    def reached(self, pairs: int) -> tuple[Look, ...]:
        """The looks that so many pairs allow."""
        return tuple(look for look in self.looks if look.pairs <= pairs)

    def next_after(self, pairs: int) -> Look | None:
        """The next look that needs more pairs, or ``None`` after the last."""
        return next((look for look in self.looks if look.pairs > pairs), None)


def _with_shares(ladder: Sequence[int]) -> tuple[Look, ...]:
    before = [n for n in ladder if n < MAIN_LOOK]
    main = [n for n in ladder if n >= MAIN_LOOK][:1]
    after = [n for n in ladder if n >= MAIN_LOOK][1:]
    groups = [(before, _SHARE_BEFORE), (main, _SHARE_MAIN), (after, _SHARE_AFTER)]
    total = sum(share for group, share in groups if group)
    return tuple(Look(n, share / total / len(group)) for group, share in groups for n in group)
