"""Characters that not every terminal can show, and what stands in for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """The characters of a report that are not ASCII."""

    times: str = "×"
    plus_minus: str = "±"
    dash: str = "–"
    arrow: str = "→"
    ellipsis: str = "…"

    def fit(self, text: str) -> str:
        """Return ``text`` with the characters of :data:`UNICODE` as this set has them."""
        for plain, own in zip(_fields(UNICODE), _fields(self), strict=True):
            text = text.replace(plain, own)
        return text


def _fields(glyphs: Glyphs) -> tuple[str, ...]:
    return (glyphs.times, glyphs.plus_minus, glyphs.dash, glyphs.arrow, glyphs.ellipsis)


UNICODE = Glyphs()
ASCII = Glyphs("x", "+/-", "-", "->", "...")


def glyphs_for(encoding: str | None) -> Glyphs:
    """Return the set that an encoding can write."""
    try:
        "".join(_fields(UNICODE)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
