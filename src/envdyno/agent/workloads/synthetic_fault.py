"""Faults that the synthetic workload commits on order."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from envdyno.agent.stages import Stage, current_stage
from envdyno.agent.workloads.registry import WorkloadError


class Fault(str, Enum):
    """What goes wrong."""

    NONE = "none"
    RAISE = "raise"
    EXIT = "exit"
    """``sys.exit(0)``, as a script's end would."""
    EXIT_NOW = "exit_now"
    """``os._exit(0)``: the process is gone without a word, and with a good exit code."""
    KILL = "kill"
    """SIGKILL, as the out-of-memory killer sends it."""
    ABORT = "abort"
    """SIGABRT, as a failed assertion in native code."""
    HANG = "hang"
    HANG_LOCKED = "hang_locked"
    """Hangs with the interpreter lock held, as some engines step."""
    NAN = "nan"
    """From then on one row is not finite."""
    PRINT = "print"
    """Prints ``fault_size`` kB to stdout and to stderr."""
    SHRINK_AFFINITY = "shrink_affinity"
    """Binds itself to its first CPU, as some libraries do when they are imported."""
    SLOW = "slow"
    """Takes ``fault_size`` seconds longer."""


@dataclass
class FaultPlan:
    """One fault, and when it happens: in which stage, and after how many calls there."""

    fault: Fault
    stage: str
    after: int
    size: float
    mine: bool = True
    """Whether this worker is the one that fails."""
    calls: int = 0
    struck: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, Any], worker: int | None = None) -> FaultPlan:
        """Read the ``fault_*`` options; with no worker given, every worker fails.

        Raises:
            WorkloadError: there is no such fault or stage, or a number is none.
        """
        try:
            fault = Fault(options.get("fault", "none"))
        except ValueError:
            offered = ", ".join(member.value for member in Fault)
            raise WorkloadError(f"synthetic has no fault={options['fault']!r}; it has: {offered}.") from None
        stage = options.get("fault_stage", "window")
        if stage not in {member.value for member in Stage}:
            raise WorkloadError(f"synthetic has no fault_stage={stage!r}; stages are those of a run.")
        numbers = {name: options.get(name, 0) for name in ("fault_worker", "fault_after", "fault_size")}
        for name, value in numbers.items():
            if not isinstance(value, (int, float)):
                raise WorkloadError(f"synthetic has no {name}={value!r}; it is a number.")
        mine = worker is None or numbers["fault_worker"] in (-1, worker)
        return cls(fault, stage, int(numbers["fault_after"]), float(numbers["fault_size"]), mine)

    def rows_not_finite(self) -> int:
        """Return how many rows are not finite by now."""
        return int(self.fault is Fault.NAN and self.struck)

    def strike(self) -> None:
        """Commit the fault if its time has come."""
        if self.fault is Fault.NONE or not self.mine or self.struck or current_stage().value != self.stage:
            return
        self.calls += 1
        if self.calls <= self.after:
            return
        self.struck = True
        _commit(self.fault, self.size)


def _commit(fault: Fault, size: float) -> None:
    if fault is Fault.RAISE:
        raise RuntimeError("the synthetic workload was told to raise")
    if fault is Fault.EXIT:
        sys.exit(0)
    if fault is Fault.EXIT_NOW:
        os._exit(0)
    if fault in (Fault.KILL, Fault.ABORT):
        os.kill(os.getpid(), signal.SIGKILL if fault is Fault.KILL else signal.SIGABRT)
    if fault is Fault.HANG:
        time.sleep(86400)
    if fault is Fault.HANG_LOCKED:
        # PyDLL keeps the interpreter lock during the call, unlike CDLL.
        ctypes.PyDLL(None).sleep(86400)
    if fault is Fault.PRINT:
        text = "x" * 1023 + "\n"
        for stream in (sys.stdout, sys.stderr):
            stream.write(text * int(size))
    if fault is Fault.SHRINK_AFFINITY and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if fault is Fault.SLOW:
        time.sleep(size)
