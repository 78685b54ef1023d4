"""Numbers with the word for what they count: ``1 pair``, ``12 pairs``."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number and its noun, ``1,024 runs``.

    Args:
        number: how many.
        noun: for one of them.
        plural: for any other number; the noun with an s where not given.
    """
    return f"{number:,} {agreeing(number, noun, plural or f'{noun}s')}"


def agreeing(number: int, one: str, more: str) -> str:
    """Return the word that agrees with a number: ``one`` with 1, ``more`` with any other, 0 too."""
    return one if number == 1 else more
