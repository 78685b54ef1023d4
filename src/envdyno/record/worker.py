"""One worker's part of a run."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from envdyno.record.hardware import HardwareCounts
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

    p10_ms: float = Field(description="a tenth of the steps took no longer")
    p50_ms: float = Field(description="median")
    p90_ms: float = Field(description="nine tenths took no longer")
    p99_ms: float = Field(description="99 of 100 took no longer")
    min_ms: float = Field(description="shortest")
    max_ms: float = Field(description="longest")
    mean_ms: float = Field(description="sum over number")
    steps: int = Field(description="number of durations")


class Warmup(Shape):
    """How the warm-up went."""

    steps: int = Field(description="vector steps taken, first step not counted")
    rounds: int = Field(description="rounds of the asked length; more than one while it was not steady")
    seconds: float = Field(description="sum of the durations of the steps")
    steady: bool | None = Field(description="null where there were too few steps to tell")
    relative_change: float | None = Field(description="drift of the step time over the last round")


class WorkSpan(Shape):
    """The workload's own running totals, as differences over a number of vector steps."""

    vector_steps: int = Field(description="between the two reads")
    totals: dict[str, float] = Field(description="e.g. substeps, dispatches, contacts, solver_iterations")


class ContactSamples(Shape):
    """Contacts in the states of some rows at two instants: a sample, taken outside the timed span."""

    rows: int = Field(description="rows that were looked at, each time")
    after_warmup: int = Field(description="contacts that the engine detects in these rows before the window")
    after_window: int = Field(description="the same after it")


class WorkerUse(Shape):
    """What the worker's process tree used while the window was open."""

    cpu_s: float = Field(description="user and system time")
    cpu_percent: float = Field(description="of the CPUs that the worker may use; 100 is all of them, busy")
    rss_bytes: int = Field(description="resident memory at the end, shared pages counted in each process")
    minor_faults: int | None = Field(description="page faults served from memory")
    major_faults: int | None = Field(description="page faults that waited for a disk")
    voluntary_switches: int = Field(description="context switches of living threads that waited")
    involuntary_switches: int = Field(description="context switches of living threads that were preempted")
    processes: int = Field(description="processes of the tree at the end")
    hardware: HardwareCounts | None = Field(default=None, description="hardware counters; null without any")


class WorkerRecord(Shape):
    """One worker: where it ran, how it got there, what it completed."""

    worker: int = Field(description="number of the worker, from 0")
    pid: int = Field(description="process id; 0 where it was not started")
    num_envs: int = Field(description="its share of the batch")
    seed: int = Field(description="of its environments and actions")
    placement: dict[str, Any] = Field(description="node, cpus, memory_nodes, policy, threads")
    outcome: dict[str, Any] | None = Field(description="what came of binding: cpu and memory, apart")
    modules_before_placement: tuple[str, ...] = Field(description="modules loaded when it was bound")
    thread_variables: dict[str, dict[str, str]] = Field(description="set by envdyno, and kept from the user")
    stages_s: dict[str, float] = Field(description="cold-start ledger: seconds of each stage")
    warmup: Warmup | None = Field(description="null where it was not reached")
    audit_before: dict[str, Any] | None = Field(description="threads, policy and pages after the build")
    audit_after: dict[str, Any] | None = Field(description="the same after the window")
    totals: Totals | None = Field(description="completed inside the window")
    share: float | None = Field(description="of all transitions")
    transitions_per_s: float | None = Field(description="its transitions over the common window")
    step_time: StepTime | None = Field(
        description="between completions in the window; in latency mode of each step by itself"
    )
    series: tuple[int, ...] = Field(default=(), description="transitions of each sub-window")
    trend: float | None = Field(default=None, description="relative change of the series over the window")
    entered_s: float | None = Field(
        default=None, description="from the window's start to the first completion"
    )
    work: WorkSpan | None = Field(
        default=None, description="what the workload says it did; null where it does not tell"
    )
    contacts: ContactSamples | None = Field(
        default=None, description="null where the workload does not look, or the window was not completed"
    )
    use: WorkerUse | None = Field(default=None, description="null where the window was not completed")
    observation_hash: str | None = Field(default=None, description="SHA-256 after a fixed number of steps")
    observation_hash_steps: int | None = Field(default=None, description="the number of those steps")
    nonfinite_seen: int | None = Field(default=None, description="rows, looked at after warm-up and window")
    raw_samples: str | None = Field(
        default=None, description="file of the bundle, .npy of int64 ns: completions, or durations"
    )
    raw_kept: int | None = Field(default=None, description="number of raw samples")
    exit_status: int | None = Field(default=None, description="of the process, negative for a signal")
