"""Text for a file, or for stdout where no file is named."""

from __future__ import annotations

import sys
from pathlib import Path

from envdyno.plan.usage_error import UsageError


def write_text(text: str, target: Path | None) -> None:
    """Write UTF-8, whatever the terminal's encoding; a file is replaced whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    data = text.encode("utf-8", "backslashreplace")
    if target is None or str(target) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    partial = target.with_name(f"{target.name}.partial")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        partial.write_bytes(data)
        partial.replace(target)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}. Choose another file.") from error


def append_text(text: str, target: Path) -> None:
    """Add UTF-8 to the end of a file.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        with target.open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}. Choose another file.") from error
