"""Is the machine quiet? Looked at before a run, by a short sample of the kernel's CPU accounting."""

from __future__ import annotations

import time
from collections.abc import Iterable

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.host.load import sample_load
from envdyno.host.site import Site
from envdyno.plan.usage_error import UsageError


def check_exclusive(site: Site, limit_cores: float) -> None:
    """Refuse when other work loads the chosen CPUs.

    Raises:
        UsageError: more than ``limit_cores`` of them are busy.
    """
    busy = sample_load().busy_cores(site.chosen_cpus)
    if busy > limit_cores:
        raise UsageError(
            f"--exclusive was asked for, and {busy:.2f} cores of the chosen CPUs "
            f"({format_cpulist(site.chosen_cpus)}) are busy with other work (limit {limit_cores:g}). "
            "End that work, choose other CPUs (--cpus), or use --wait-idle."
        )


def wait_until_idle(cpus: Iterable[int], limit_cores: float, patience_s: float) -> float:
    """Wait until no more than ``limit_cores`` of ``cpus`` are busy; return the last load seen.

    Raises:
        UsageError: they are still busy after ``patience_s`` seconds.
    """
    chosen = list(cpus)
    deadline = time.monotonic() + patience_s
    while (busy := sample_load().busy_cores(chosen)) > limit_cores:
        if time.monotonic() >= deadline:
            raise UsageError(
                f"The chosen CPUs ({format_cpulist(tuple(chosen))}) were still busy with {busy:.2f} cores of "
                f"other work after {patience_s:g} s (limit {limit_cores:g}). "
                "End that work, or raise --wait-idle."
            )
    return busy
