"""Characters that not every terminal can show, and what stands in for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from envdyno.record.printable import printable


@dataclass(frozen=True)
class Glyphs:
    """The characters of a report that are not ASCII."""

    times: str = "×"
    plus_minus: str = "±"
    dash: str = "–"
    arrow: str = "→"
    ellipsis: str = "…"
    encoding: str = "utf-8"
    """What the text is going to be written in."""

    def fit(self, line: str) -> str:
        """Return one line as it can be shown: safe for a terminal, and in characters of the encoding.

        The characters of :data:`UNICODE` become those of this set; others that the encoding does not have,
        such as those of a log, are written out.
        """
        line = printable(line)
        for plain, own in zip(_fields(UNICODE), _fields(self), strict=True):
            line = line.replace(plain, own)
        return line.encode(self.encoding, "backslashreplace").decode(self.encoding)


def _fields(glyphs: Glyphs) -> tuple[str, ...]:
    return (glyphs.times, glyphs.plus_minus, glyphs.dash, glyphs.arrow, glyphs.ellipsis)


UNICODE = Glyphs()
ASCII = Glyphs("x", "+/-", "-", "->", "...", "ascii")


def glyphs_for(encoding: str | None) -> Glyphs:
    """Return the set that an encoding can write; ASCII for none and for one that is not known."""
    try:
        "".join(_fields(UNICODE)).encode(encoding or "ascii")
    except UnicodeEncodeError:
        return replace(ASCII, encoding=encoding or "ascii")
    except LookupError:
        return ASCII
    return replace(UNICODE, encoding=encoding or "ascii")
