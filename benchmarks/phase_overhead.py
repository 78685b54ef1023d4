"""Cost of ``with phase(...)`` for code that is not being timed, and for code that is.

The off cost is the promise that lets phases stay in production code: at most 0.1 µs. Each figure is the
smallest of many rounds of a loop that enters the phase, less the same loop around ``pass``: the smallest,
because everything that disturbs a loop makes it longer.

Run: ``python benchmarks/phase_overhead.py``. Exits with 1 if an off cost is above the bound.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable

from envdyno.agent.measure import phases
from envdyno.agent.measure.phases import CpuTiming, phase

BOUND_NS = 100.0
ROUNDS = 25
ENTRIES = 100_000

_held = phase("held")


def _empty(n: int) -> None:
    for _ in range(n):
        pass


def _inline(n: int) -> None:
    for _ in range(n):
        with phase("inline"):
            pass


def _hold(n: int) -> None:
    held = _held
    for _ in range(n):
        with held:
            pass


class _Environment:
    def __init__(self) -> None:
        self.physics = phase("attribute")

    def run(self, n: int) -> None:
        for _ in range(n):
            with self.physics:
                pass


def _plain() -> None:
    pass


_decorated = phase("decorated")(_plain)


def _call_decorated(n: int) -> None:
    for _ in range(n):
        _decorated()


def _call_plain(n: int) -> None:
    for _ in range(n):
        _plain()


def _smallest_ns(loop: Callable[[int], None], baseline: Callable[[int], None], entries: int) -> float:
    """Nanoseconds that one pass of ``loop`` takes more than one of ``baseline``."""
    with_phase = without = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        baseline(entries)
        middle = time.perf_counter_ns()
        loop(entries)
        end = time.perf_counter_ns()
        without, with_phase = min(without, middle - begin), min(with_phase, end - middle)
    return (with_phase - without) / entries


def main() -> int:
    """Print the table; tell by the exit code whether the bound holds."""
    ways = {
        "inline      with phase('x'):": (_inline, _empty),
        "held        with held:": (_hold, _empty),
        "attribute   with self._x:": (_Environment().run, _empty),
        "decorated   f()": (_call_decorated, _call_plain),
    }
    off = {label: _smallest_ns(loop, base, ENTRIES) for label, (loop, base) in ways.items()}
    on = {}
    for cpu in CpuTiming:
        phases.enable(cpu)
        on[cpu] = {label: _smallest_ns(loop, base, ENTRIES // 20) for label, (loop, base) in ways.items()}
        phases.disable()
    print(f"Python {platform.python_version()}, ns per entry{'off':>16}{'on':>10}{'on, CPU time':>16}")
    for label in ways:
        timed, with_cpu = on[CpuTiming.OFF][label], on[CpuTiming.PROCESS][label]
        print(f"  {label:32s}{off[label]:8.1f}{timed:10.0f}{with_cpu:16.0f}")
    print(f"off is bound to {BOUND_NS:.0f} ns for a with statement; a decorator adds the wrapper's own call")
    entered = [label for label in ways if "with" in label]
    return 0 if all(off[label] <= BOUND_NS for label in entered) else 1


if __name__ == "__main__":
    sys.exit(main())
