"""What an experiment is: its plan, its sides, and each run's place in it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from envdyno.record.model import Shape, UtcStamp

EXPERIMENT_SCHEMA: Literal["envdyno.experiment/1"] = "envdyno.experiment/1"


class ExperimentEntry(Shape):
    """A run's place in its experiment."""

    planned_id: str = Field(description="id of the planned run; the same whenever the plan is expanded")
    case: str = Field(description="name of the case in the plan")
    side: str = Field(description="name of the side in the plan")
    pair: int = Field(description="number of the pair within its case and kind, from 1")
    position: int = Field(description="place within the pair, from 0")
    attempt: int = Field(description="0 for the first try of this planned run")
    final: bool = Field(description="whether this record settles the planned run; else it is repeated")
    disturbed: bool = Field(description="foreign load above the limit; set from the load alone")
    canary_per_s: float | None = Field(description="speed of a fixed load just before the run")
    canary_tries: int = Field(
        default=1, description="how often it was tried; more than once where it had moved within the pair"
    )
    folder: str | None = Field(
        default=None, description="folder of the bundle with logs and raw samples; null for a run not made"
    )


class SideRecord(Shape):
    """One side, as it was prepared and as it was seen to load."""

    name: str
    label: str = Field(description="short name for tables, e.g. the start of a SHA")
    digest: str = Field(description="SHA-256 over everything that may change what runs")
    identity: dict[str, Any]
    caches: tuple[dict[str, Any], ...] = ()
    distributions: dict[str, str] | None = Field(default=None, description="what its processes imported")
    origins: tuple[dict[str, Any], ...] = ()


class ExperimentRecord(Shape):
    """The head of a bundle: everything that was fixed before the first run."""

    schema_: Literal["envdyno.experiment/1"] = Field(
        default=EXPERIMENT_SCHEMA, alias="schema", serialization_alias="schema"
    )
    experiment_id: str
    created_at: UtcStamp = Field(description="UTC, ISO 8601")
    envdyno_version: str
    command: tuple[str, ...]
    directory: str = Field(default=".", description="where the plan's relative paths start")
    working_directory: str = Field(
        default=".", description="of the runs of sides that have none of their own"
    )
    plan: dict[str, Any] = Field(description="the whole plan, defaults written out")
    plan_digest: str
    sides: tuple[SideRecord, ...] = Field(description="in the order of the plan; the first is the base")
    cases: tuple[str, ...]
    orders: dict[str, str] = Field(description="by case, the order of the sides: AB BA AB")
    planned: tuple[str, ...] = Field(description="ids of all planned runs, in order")
    misaligned: dict[str, str] = Field(
        default_factory=dict, description="cases whose sides cannot be compared, and why; not measured"
    )
    cannot_run: dict[str, str] = Field(
        default_factory=dict, description="cases that a side could not build, and why; not measured"
    )
    differences: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="by side, what sets it apart from the first: code, packages, ..."
    )
    package_differences: tuple[str, ...] = ()
    machine: dict[str, Any] = Field(
        default_factory=dict, description="identity of the machine; all runs have to be made on it"
    )
    noise_floors: tuple[dict[str, Any], ...] = Field(
        default=(), description="what A/A experiments had told of this machine's noise by then"
    )
    notices: tuple[str, ...] = ()

    model_config = Shape.model_config | {"populate_by_name": True, "serialize_by_alias": True}
