"""A monotonic clock that moves only when told."""

from __future__ import annotations

import math


class FakeClock:
    """Nanoseconds that pass only by :meth:`advance` and :meth:`sleep`."""

    def __init__(self, now_ns: int = 1_000_000_000) -> None:
        self._now_ns = now_ns

    def ns(self) -> int:
        """The time, as ``time.monotonic_ns`` tells it."""
        return self._now_ns

    def s(self) -> float:
        """The time, as ``time.monotonic`` tells it."""
        return self._now_ns / 1e9

    def sleep(self, seconds: float) -> None:
        """Pass time as ``time.sleep`` does: perhaps a little late, never early."""
        self.advance(math.ceil(seconds * 1e9) + 1)

    def advance(self, nanoseconds: int) -> None:
        """Pass time."""
        self._now_ns += nanoseconds
