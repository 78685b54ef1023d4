"""How loaded the machine is over a short time, from two readings of the kernel's accounting."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from envdyno.host.procfs import MachineUse, machine_use

SAMPLE_S = 1.0


@dataclass(frozen=True)
class Load:
    """What was used between two readings."""

    elapsed_s: float
    """Between the readings: on a loaded machine far more than was asked for."""
    before: MachineUse
    after: MachineUse

    def busy_cores(self, cpus: Iterable[int]) -> float:
        """Return how many of ``cpus`` were busy on average."""
        chosen = list(cpus)
        return (self.after.busy_on(chosen) - self.before.busy_on(chosen)) / self.elapsed_s

    @property
    def stolen_cores(self) -> float | None:
        """Cores' worth of time that the hypervisor gave to others; ``None`` where nobody tells."""
        stolen_s = self.after.stolen_since(self.before)
        return None if stolen_s is None else stolen_s / self.elapsed_s


def sample_load(seconds: float = SAMPLE_S) -> Load:
    """Watch the machine for ``seconds``, which must be several clock ticks (0.01 s each) long."""
    began = time.monotonic()
    before = machine_use()
    time.sleep(seconds)
    after = machine_use()
    return Load(time.monotonic() - began, before, after)
