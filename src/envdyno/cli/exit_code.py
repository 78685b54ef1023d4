"""What the exit status of every verb means."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses."""

    DONE = 0
    """Done, or the gate passed."""
    GATE_FAILED = 1
    USAGE = 2
    UNDECIDED = 3
    INCOMPARABLE = 4
    NOT_MEASURED = 5
    """A run failed."""
    INTERRUPTED = 130
