"""One worker's part of a run."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from envdyno.record.model import Shape


class Totals(Shape):
    """Sums over vector steps; null where the workload does not tell."""

    vector_steps: int = Field(description="calls of the workload's step")
    transitions: int = Field(description="environments advanced by one action")
    reset_rows: int = Field(description="rows that did nothing but reset; not transitions")
    episodes: int | None = Field(description="episodes that ended")
    nonfinite_rows: int | None = Field(description="rows that held a NaN or an infinity")
    reward_sum: float | None = Field(description="sum of the rewards, in the task's own unit")
    nonfinite_rewards: int = Field(description="vector steps whose summed reward was not finite")


class StepTime(Shape):
    """Durations of vector steps, in ms."""

    p10_ms: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    min_ms: float
    max_ms: float
    mean_ms: float
    steps: int


class Warmup(Shape):
    """How the warm-up went."""

    steps: int
    rounds: int = Field(description="rounds of the asked length; more than one while it was not steady")
    seconds: float
    steady: bool | None = Field(description="null where there were too few steps to tell")
    relative_change: float | None = Field(description="drift of the step time over the last round")


class WorkSpan(Shape):
    """The workload's own running totals, as differences over a number of vector steps."""

    vector_steps: int
    totals: dict[str, float] = Field(description="e.g. substeps, dispatches, contacts, solver_iterations")


class WorkerUse(Shape):
    """What the worker's process tree used while the window was open."""

    cpu_s: float
    cpu_percent: float = Field(description="of the CPUs that the worker may use; 100 is all of them, busy")
    rss_bytes: int
    minor_faults: int | None
    major_faults: int | None
    voluntary_switches: int
    involuntary_switches: int
    processes: int


class WorkerRecord(Shape):
    """One worker: where it ran, how it got there, what it completed."""

    worker: int
    pid: int
    num_envs: int
    seed: int
    placement: dict[str, Any] = Field(description="node, cpus, memory_nodes, policy, threads")
    outcome: dict[str, Any] | None = Field(description="what came of binding: cpu and memory, apart")
    modules_before_placement: tuple[str, ...] = Field(description="modules loaded when it was bound")
    thread_variables: dict[str, dict[str, str]] = Field(description="set by envdyno, and kept from the user")
    stages_s: dict[str, float] = Field(description="cold-start ledger: seconds of each stage")
    warmup: Warmup | None
    audit_before: dict[str, Any] | None = Field(description="threads, policy and pages after the build")
    audit_after: dict[str, Any] | None = Field(description="the same after the window")
    totals: Totals | None = Field(description="completed inside the window")
    share: float | None = Field(description="of all transitions")
    transitions_per_s: float | None = Field(description="its transitions over the common window")
    step_time: StepTime | None
    series: tuple[int, ...] = Field(default=(), description="transitions of each sub-window")
    trend: float | None = Field(default=None, description="relative change of the series over the window")
    entered_s: float | None = Field(
        default=None, description="from the window's start to the first completion"
    )
    work: WorkSpan | None = None
    use: WorkerUse | None = None
    observation_hash: str | None = Field(default=None, description="SHA-256 after a fixed number of steps")
    observation_hash_steps: int | None = None
    nonfinite_seen: int | None = Field(default=None, description="rows, looked at after warm-up and window")
    raw_samples: str | None = Field(default=None, description="file of the bundle, .npy of int64, ns")
    raw_kept: int | None = None
    exit_status: int | None = None
