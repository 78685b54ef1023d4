"""Telling in a line what somebody else's code raised, and where."""

from __future__ import annotations

import traceback
from pathlib import Path

_LONGEST = 300
_IMPORT_MACHINERY = "<frozen "


def in_a_line(error: BaseException) -> str:
    """Return the type, the first line of the message and the place of an exception."""
    message = str(error)
    if isinstance(error, SyntaxError):
        message = error.msg
    elif isinstance(error, KeyError) and error.args:
        message = str(error.args[0])  # str() of a KeyError is a repr, line ends and all
    lines = str(message or "").strip().splitlines()
    first = lines[0].strip() if lines else ""
    if len(first) > _LONGEST:
        first = f"{first[:_LONGEST]}..."
    kind = type(error).__name__
    place = place_of(error)
    return (f"{kind}: {first}" if first else kind) + (f" (at {place})" if place else "")


def place_of(error: BaseException) -> str | None:
    """Return file and line of what was raised; of a syntax error, where the code cannot be read.

    ``None`` where no code of Python's own raised it.
    """
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_file():
        return f"{error.filename}:{error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_IMPORT_MACHINERY) and frame.name != "import_module"
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None
