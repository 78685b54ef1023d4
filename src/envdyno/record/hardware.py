"""What the processor itself counted in the window."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from envdyno.record.model import Shape


class HardwareCounting(str, Enum):
    """Whether hardware counters are read."""

    AUTO = "auto"
    """Where the kernel allows it."""
    OFF = "off"


class EventCount(Shape):
    """How often one event came."""

    count: int = Field(description="in user space, threads and child processes included")
    counted_share: float = Field(
        description="part of the time in which it was counted; below 1 the count is scaled up by it"
    )


class HardwareCounts(Shape):
    """Hardware counters in the window; null where an event was not counted, and absent says why."""

    elapsed_s: float = Field(description="between the two readings; a little more than the window")
    instructions: EventCount | None = Field(description="instructions that were completed")
    cycles: EventCount | None = Field(description="clock cycles in which the processor ran the workers")
    cache_references: EventCount | None = Field(description="look-ups in the cache, the last level as a rule")
    cache_misses: EventCount | None = Field(description="those that were not found there")
    branch_misses: EventCount | None = Field(description="branches that were predicted wrongly")
    instructions_per_cycle: float | None = Field(description="instructions over cycles")
    instructions_per_transition: float | None = Field(
        description="instructions over the transitions of the same time, at the rate of the window"
    )
