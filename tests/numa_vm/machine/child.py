"""Runs a part of a check in a process of its own, for what is bound there to end with it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def in_a_child(body: Callable[[], None]) -> None:
    """Run `body` in a forked process; an AssertionError has the traceback of what it raised."""
    status, report = _run(body)
    assert status == 0, f"a child of the check ended with wait status {status}\n{report}"


def signal_of_a_child(body: Callable[[], None]) -> int | None:
    """Run `body` in a forked process; return the signal that ended it, None if it ended by itself."""
    status, report = _run(body)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status)
    assert status == 0, f"a child of the check ended with wait status {status}\n{report}"
    return None


def _run(body: Callable[[], None]) -> tuple[int, str]:
    """Wait status and traceback of `body` in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            body()
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "r", errors="replace") as pipe:
        report = pipe.read()
    _, status = os.waitpid(child, 0)
    return status, report
