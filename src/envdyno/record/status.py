"""How a run ended, and what makes its figures doubtful."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from envdyno.record.model import Shape


class Status(str, Enum):
    """Every planned run ends in one of these."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"
    KILLED = "killed"
    INVALID = "invalid"
    """Measured, but what was measured is no valid work, e.g. rows that were not finite."""
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"

    @property
    def is_failure(self) -> bool:
        """Whether the workload itself did not do what was asked, rather than not having been asked."""
        return self in {Status.FAILED, Status.TIMEOUT, Status.KILLED, Status.INVALID}


class FailureRecord(Shape):
    """The first cause of a run that did not end well."""

    kind: str = Field(
        description="exception, exit, signal, deadline, protocol, placement, late, launch, interrupt, skipped"
    )
    worker: int | None = Field(description="the worker that failed first")
    stage: str | None = Field(description="the stage it was in")
    message: str = Field(description="finished sentences for a person")
    exception: str | None = Field(default=None, description="type of what was raised")
    traceback: str | None = Field(default=None, description="of the worker that failed first")
    signal: str | None = Field(default=None, description="name of the signal that ended it")
    exit_code: int | None = Field(default=None, description="of a worker that ended by itself")
    log_tail: tuple[str, ...] = Field(default=(), description="the last lines of the worker's log")


class Doubt(str, Enum):
    """What makes a figure doubtful, or has to be read with it."""

    FOREIGN_LOAD = "foreign_load"
    STEAL = "steal"
    THROTTLED = "throttled"
    NOT_STEADY = "not_steady"
    TREND = "trend"
    FEW_STEPS = "few_steps"
    NO_RESETS = "no_resets"
    PLACEMENT = "placement"
    """Binding was denied, unsupported or only partly done."""
    PLACEMENT_NOTE = "placement_note"
    """Something about the choice of placements."""
    AUDIT = "audit"
    """Threads or pages are not where they were put."""
    MEMORY_SHORT = "memory_short"
    NONFINITE = "nonfinite"
    COUNTING_ASSUMED = "counting_assumed"
    STRAGGLER = "straggler"
    LEFT_PROCESSES = "left_processes"
    BAD_EXIT = "bad_exit"
    CONTROL_LOAD = "control_load"
    RAW_THINNED = "raw_thinned"


class Warning_(Shape):  # noqa: N801 (Warning is a built-in name)
    """One thing that makes a figure doubtful, and what to do about it."""

    code: Doubt = Field(description="what kind of doubt")
    message: str = Field(description="a finished sentence: what was found")
    remedy: str = Field(default="", description="what to do about it")
