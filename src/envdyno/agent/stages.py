"""The stages of a run, and the ledger of how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum


class Stage(str, Enum):
    """Stages in the order in which a worker passes them. Each has a deadline of its own."""

    START = "start"
    """From the launch of the process until it runs Python."""
    BIND = "bind"
    IMPORT = "import"
    BUILD = "build"
    FIRST_STEP = "first_step"
    """Apart from warm-up: late compilation and first touches happen here."""
    WARMUP = "warmup"
    WINDOW = "window"
    AUDIT = "audit"
    CLOSE = "close"


_current: Stage = Stage.START


def current_stage() -> Stage:
    """Return the stage that this process is in."""
    return _current


class Ledger:
    """How long each stage took, in seconds, and a call for every stage that begins."""

    def __init__(
        self, announce: Callable[[Stage], None], clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        """Announce beginnings by ``announce``; read nanoseconds from ``clock``."""
        self._announce = announce
        self._clock = clock
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Time the body as ``stage``. The current stage stays set when the body raises."""
        global _current
        _current = stage
        self._announce(stage)
        began_ns = self._clock()
        yield
        self.seconds[stage.value] = (self._clock() - began_ns) / 1e9
