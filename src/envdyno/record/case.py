"""What was asked for: a named workload with all its options fixed, and how it was to be measured."""

from __future__ import annotations

import hashlib
import json
from enum import Enum
from typing import Any

from pydantic import Field

from envdyno.record.hardware import HardwareCounting
from envdyno.record.model import Shape


class Mode(str, Enum):
    """What is measured."""

    WINDOW = "window"
    """Throughput in a common window of fixed length."""
    LATENCY = "latency"
    """The time of each of a fixed number of vector steps."""


_LATER = ("threads", "probes", "phase_cpu", "hardware_counters")
"""Fields that have no part in the hash where they have their default: cases of the time before a field was
there keep their hash."""


class CaseRecord(Shape):
    """One case, as it was run. Everything here is part of its identity."""

    workload: str = Field(description="name or module:attribute, as the user gave it")
    options: dict[str, Any] = Field(default_factory=dict, description="the workload's own options")
    num_envs: int = Field(description="total batch over all workers")
    shares: tuple[int, ...] = Field(description="environments of each worker")
    seed: int = Field(description="of the run; each worker's own follows from it")
    actions: str = Field(description="random, zero, fixed, or workload where it chooses them itself")
    warmup_steps: int = Field(description="vector steps of a warm-up round, first step not counted")
    mode: Mode = Field(description="throughput in a window, or latency of steps")
    window_s: float | None = Field(description="length of the window; null in latency mode")
    steps: int | None = Field(description="vector steps of each worker; null in window mode")
    timing: str = Field(default="throughput", description="throughput or attribution")
    numa: str = Field(description="how placements were chosen, as asked")
    placements: tuple[str, ...] = Field(description="CPUs and memory of each worker, in words")
    threads: int | None = Field(
        default=None, description="of each worker, as asked; null for as many as it has CPUs"
    )

    probes: tuple[str, ...] = Field(
        default=(), description="callables that are timed as phases; of attribution runs alone"
    )
    phase_cpu: bool = Field(
        default=False, description="whether phases are timed in CPU time too; of attribution runs alone"
    )
    hardware_counters: HardwareCounting = Field(
        default=HardwareCounting.AUTO, description="auto where the kernel allows them, or off"
    )

    def config_hash(self) -> str:
        """Return a SHA-256 over all fields; equal hashes mean that the same was asked for."""
        body = self.to_json()
        for name in _LATER:
            if getattr(self, name) == CaseRecord.model_fields[name].default:
                del body[name]
        text = json.dumps(body, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()
