"""Plain aligned columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

LEAST_ROOM = 24
"""Characters; the last column is not folded into less."""


def aligned(
    rows: Sequence[Sequence[str]], right: Sequence[int] = (), gap: int = 2, width: int | None = None
) -> list[str]:
    """Return rows as lines whose columns stand under each other.

    Args:
        rows: cells, the header first; all rows have the same number.
        right: columns that are aligned to the right.
        gap: spaces between columns.
        width: of the screen; the last column is folded at its words to fit. ``None`` folds nothing.
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    indent = sum(widths[:-1]) + gap * (len(widths) - 1)
    lines = []
    for row in rows:
        first, *more = _folded(row[-1], None if width is None else width - indent)
        cells = [
            cell.rjust(room) if column in right else cell.ljust(room)
            for column, (cell, room) in enumerate(zip([*row[:-1], first], widths, strict=True))
        ]
        lines.append((" " * gap).join(cells).rstrip())
        lines += [f"{' ' * indent}{part}" for part in more]
    return lines


def _folded(text: str, room: int | None) -> list[str]:
    if room is None or len(text) <= room or room < LEAST_ROOM:
        return [text]
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
