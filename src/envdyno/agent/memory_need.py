"""What a workload says it will need of memory, held against what there is, before it is built.

A factory may have an attribute ``memory_need``: a function of ``num_envs`` and the options that returns the
bytes that one worker will need. A strict bind beyond a node's free memory ends in the kernel's
out-of-memory killer while other nodes are free; this is said before, and again if it happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.job import Job
from envdyno.agent.placement.capacity import check_capacity
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.placement import Placement
from envdyno.agent.placement.topology import read_topology


def capacity_warnings(job: Job, factory: Callable[..., Any], placement: Placement) -> list[str]:
    """Return what is too small for this worker, in sentences; none where the factory tells no need."""
    tell = getattr(factory, "memory_need", None)
    if not callable(tell):
        return []
    need = int(tell(job.num_envs, **job.options))
    return [
        warning.message for warning in check_capacity([placement], [need], read_topology(), read_limits())
    ]
