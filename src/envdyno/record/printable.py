"""Text from outside, made safe to show: logs and shared records must not command the terminal.

An escape sequence in a log can move the cursor, rename the window or hide what follows it; characters that
change the writing direction can make a line read otherwise than it is.
"""

from __future__ import annotations

import re

_ESCAPE_SEQUENCES = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor (ECMA-48, 5.4)
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # strings for the terminal: titles, links (ECMA-48, 5.6)
    r"|[ -/]*[0-~]"
    r")?"
)


def printable(line: str) -> str:
    """Return one line without escape sequences, and with other characters that cannot be seen written out."""
    bare = _ESCAPE_SEQUENCES.sub("", line)
    return "".join(
        character
        if character.isprintable() or character == "\t"
        else character.encode("unicode_escape").decode()
        for character in bare
    )
