"""How fast a worker steps just now, told twice a second from within the window where somebody watches.

The stepping loop stays as it is but for being cut into stretches of about half a second; what is told
between two of them costs some microseconds, far below what can be measured.
"""

from __future__ import annotations

from collections.abc import Callable

PULSE_NS = 500_000_000
GROWTH = 64
"""A stretch is at most so many times as long as the one before: the first steps tell little of the pace."""


class Pulse:
    """Cuts a window into stretches, and tells the rate of each.

    Args:
        tell: gets vector steps a second.
        since_ns: when the first stretch begins, on the clock that :meth:`beat` is given.
    """

    def __init__(self, tell: Callable[[float], None], since_ns: int) -> None:
        """Begin with a stretch of one step."""
        self._tell = tell
        self._since_ns = since_ns
        self._taken = 0
        self._stretch = 1

    def stretch(self, most: int) -> int:
        """Return how many steps to take before the next beat, at least one."""
        return min(most, self._stretch)

    def beat(self, steps: int, now_ns: int) -> None:
        """So many more steps were taken, up to now."""
        self._taken += steps
        passed_ns = max(1, now_ns - self._since_ns)
        left_ns = PULSE_NS - passed_ns
        if left_ns <= 0:
            self._tell(self._taken * 1e9 / passed_ns)
            left_ns = PULSE_NS
        # Rounded up, so that the pulse is over when the stretch is.
        at_this_pace = -(-left_ns * self._taken // passed_ns)
        self._stretch = max(1, min(GROWTH * steps, at_this_pace))
        if left_ns == PULSE_NS:
            self._since_ns, self._taken = now_ns, 0
