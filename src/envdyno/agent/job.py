"""What one worker is asked to do, as it arrives from the control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from envdyno.agent.measure.actions import ActionSource


class Timing(str, Enum):
    """Whether phases are timed in a run."""

    THROUGHPUT = "throughput"
    """Phases off: the only source of headline figures."""
    ATTRIBUTION = "attribution"
    """Phases on."""


class Purpose(str, Enum):
    """How far a worker goes."""

    MEASURE = "measure"
    DESCRIBE = "describe"
    """Build, take the first step, tell what it is, and close."""
    CHECK = "check"
    """Step for as many steps as a warm-up has, look closely, tell what was seen, and close."""


@dataclass(frozen=True)
class Job:
    """One worker's part of a run."""

    worker: int
    workers: int
    workload: str
    """Name as the user gave it."""
    num_envs: int
    """This worker's share of the batch."""
    seed: int
    """Seed of this worker's environments."""
    cpus: tuple[int, ...]
    threads: int
    """Size for thread pools."""
    options: Mapping[str, Any] = field(default_factory=dict)
    actions: ActionSource = ActionSource.RANDOM
    actions_seed: int = 0
    warmup_steps: int = 30
    sys_path: tuple[str, ...] = ()
    """Folders to look in before the installed packages, never before the standard library."""
    raw_path: str | None = None
    """Where the completion times of the window go, as a NumPy file."""
    timing: Timing = Timing.THROUGHPUT
    phase_cpu: bool = False
    """Whether phases are timed in CPU time too."""
    probes: tuple[str, ...] = ()
    purpose: Purpose = Purpose.MEASURE
    modules: tuple[str, ...] = ()
    """Modules whose origin is reported, beside those that the workload names."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        body = asdict(self)
        for name, value in body.items():
            if isinstance(value, Enum):
                body[name] = value.value
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Job:
        """Read what :meth:`to_json` wrote; fields of the message that are not the job's are ignored."""
        known = {name: body[name] for name in cls.__dataclass_fields__ if name in body}
        for name in ("cpus", "sys_path", "probes", "modules"):
            if name in known:
                known[name] = tuple(known[name])
        for name, kind in (("actions", ActionSource), ("timing", Timing), ("purpose", Purpose)):
            if name in known:
                known[name] = kind(known[name])
        return cls(**known)
