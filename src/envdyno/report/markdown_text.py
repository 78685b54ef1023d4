"""Text in GitHub's Markdown, from anywhere: it shows as it is, and does nothing.

Names go into code spans, in which nothing is a link, a mention or a tag. Sentences have their special
characters written as entities.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from envdyno.record.printable import printable

_SPECIAL = re.compile(r"[\\`*{}\[\]<>&|~@#$]|(?<!\w)_|_(?!\w)|(?<=:)//|(?<=www)\.|:(?=\w+:)")
_BACKTICKS = re.compile(r"`+")


def code(text: str) -> str:
    """Return a code span, also for a cell of a table."""
    # Renderers do not agree on a backslash before a bar in a table, so that this one is written out.
    shown = printable(text).replace("\t", " ").replace("\\|", "\\x5c|").strip() or " "
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    # A table is taken apart before its cells are read, so that a bar needs its backslash in code, too.
    return f"{fence}{pad}{shown}{pad}{fence}".replace("|", "\\|")


def sentence(text: str) -> str:
    """Return text in a line of its own or a cell."""
    return _SPECIAL.sub(lambda match: "".join(f"&#{ord(one)};" for one in match.group()), printable(text))


def block(text: str) -> str:
    """Return lines as a fenced block."""
    lines = [printable(line) for line in text.split("\n")]
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table; cells are Markdown already."""
    marks = ["---:" if column in right else "---" for column in range(len(header))]
    return [_line(header), _line(marks), *(_line(row) for row in rows)]


def folded(summary: str, body: str) -> str:
    """Return a part that is folded away; the blank lines make GitHub read Markdown inside."""
    return f"<details><summary>{sentence(summary)}</summary>\n\n{body}\n\n</details>"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
