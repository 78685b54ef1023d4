"""The record of one run: one strict JSON object."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from envdyno.record.case import CaseRecord
from envdyno.record.experiment import ExperimentEntry
from envdyno.record.fingerprint import Fingerprint
from envdyno.record.hardware import HardwareCounts
from envdyno.record.model import Shape, UtcStamp
from envdyno.record.status import FailureRecord, Status, Warning_
from envdyno.record.worker import Totals, WorkerRecord

SCHEMA: Literal["envdyno.run/1"] = "envdyno.run/1"


class Throughput(Shape):
    """The headline and what stands beside it. All rates are totals over one elapsed time."""

    transitions_per_s: float = Field(description="transitions / elapsed_s")
    elapsed_s: float = Field(description="length of the common window, or from first start to last end")
    vector_steps_per_s: float = Field(description="calls of step, all workers together")
    substeps_per_s: float | None = Field(description="physics steps of single environments")
    real_time_factor: float | None = Field(description="simulated seconds of all environments a second")
    transitions_per_cpu_s: float | None = Field(description="transitions per second of CPU time")
    episodes_per_s: float | None = Field(description="episodes that ended")
    resets_per_step: float | None = Field(description="episodes that ended in a vector step, on average")
    formula: str = Field(description="how transitions_per_s is made, in words")
    edge_mode: Literal["host_return", "synchronized"] = Field(
        description="whether work in flight was waited for at the window's edges"
    )
    edge_share: float | None = Field(
        description="transitions of one vector step of every worker, as a share of all: the edges' resolution"
    )
    start_skew_s: float | None = Field(description="between the first and the last worker's first completion")
    straggler_index: float | None = Field(
        description="best over worst rate of an environment among workers; 1 is even"
    )


class MachineUse(Shape):
    """What was used while the window was open. Load is in cores: seconds of CPU time a second."""

    elapsed_s: float = Field(description="between the two samples; a little more than the window")
    cpu_s: float = Field(description="of all workers' process trees")
    cpu_cores: float = Field(description="cpu_s over elapsed_s")
    control_cpu_s: float = Field(description="of envdyno's own control process")
    control_cores: float = Field(description="control_cpu_s over elapsed_s")
    control_cpus: tuple[int, ...] | None = Field(
        default=None, description="CPUs of that process, where it was kept off those of the workers"
    )
    foreign_cores_chosen: float = Field(description="what everything else used on the chosen CPUs")
    foreign_cores_machine: float = Field(description="what everything else used on the whole machine")
    steal_s: float | None = Field(description="time the hypervisor gave to others, over all CPUs")
    throttled_s: float | None = Field(
        description="time CPU quotas held the run's cgroups back, over all CPUs"
    )
    pressure_s: dict[str, float | None] = Field(description="stall time by resource (PSI)")


class SoftwareRecord(Shape):
    """What the workers really loaded."""

    python: str = Field(description="version of the workers' interpreter")
    implementation: str = Field(description="e.g. cpython")
    executable: str = Field(description="path of the workers' interpreter")
    distributions: dict[str, str] = Field(description="name and version of what was imported")
    origins: tuple[dict[str, Any], ...] = Field(default=(), description="modules under test, path and hash")


class RunRecord(Shape):
    """One independent measurement of one case: fresh processes, build, warm-up, window, tear-down."""

    schema_: Literal["envdyno.run/1"] = Field(
        default=SCHEMA,
        alias="schema",
        serialization_alias="schema",
        description="name and version of this schema",
    )
    run_id: str = Field(description="unique; 32 hexadecimal digits")
    status: Status = Field(description="how the run ended; only ok has figures")
    started_at: UtcStamp = Field(description="UTC, ISO 8601")
    command: tuple[str, ...] = Field(description="arguments that repeat this run")
    envdyno_version: str = Field(description="of the control; the agent is the same")
    protocol_version: int = Field(description="of the messages between control and agent")
    case: CaseRecord = Field(description="what was asked for")
    config_hash: str = Field(description="SHA-256 over the case; equal hashes, equal cases")
    failure: FailureRecord | None = Field(
        default=None, description="first cause of a run that did not end well; else null"
    )
    spec: dict[str, Any] | None = Field(
        default=None, description="shapes, dtypes, bounds, substeps, autoreset"
    )
    throughput: Throughput | None = Field(
        default=None, description="headline and what stands beside it; null unless the run is ok"
    )
    totals: Totals | None = Field(default=None, description="sums over the workers, inside the window")
    reward_mean: float | None = Field(default=None, description="per transition")
    workers: tuple[WorkerRecord, ...] = Field(default=(), description="each worker's part, in order")
    skipped_nodes: dict[str, str] = Field(default_factory=dict, description="node and why it has no worker")
    machine: MachineUse | None = Field(default=None, description="what was used while the window was open")
    hardware: HardwareCounts | None = Field(
        default=None, description="hardware counters of all workers while the window was open"
    )
    software: SoftwareRecord | None = Field(
        default=None, description="what the first worker had loaded at the end"
    )
    fingerprint: Fingerprint | None = Field(
        default=None, description="state of the machine and of the software"
    )
    warnings: tuple[Warning_, ...] = Field(
        default=(), description="what makes the figures doubtful, the gravest first"
    )
    absent: dict[str, str] = Field(default_factory=dict, description="fields that are null, and why")
    overhead_s: float | None = Field(
        default=None, description="time of the run beyond its stages and its window"
    )
    phases: dict[str, Any] | None = Field(
        default=None, description="attribution runs only: the tree of phases, in ms of a vector step"
    )
    experiment: ExperimentEntry | None = Field(default=None, description="place in an experiment")
    observer_effect: dict[str, float] | None = Field(
        default=None, description="a step of this attribution run against one of its throughput run"
    )

    model_config = Shape.model_config | {"populate_by_name": True, "serialize_by_alias": True}

    def to_line(self) -> str:
        """Return the record as one line of strict JSON."""
        return self.model_dump_json(by_alias=True)
