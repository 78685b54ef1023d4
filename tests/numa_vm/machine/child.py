"""Runs a part of a check in a process of its own, for what is bound there to end with it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def in_a_child(body: Callable[[], None]) -> None:
    """Run `body` in a forked process; raise what it raised, as an AssertionError with its traceback."""
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
    assert status == 0, f"a child of the check ended with wait status {status}\n{report}"
