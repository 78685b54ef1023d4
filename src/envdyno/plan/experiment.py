"""An experiment plan: the one shape that plan files and flags both lead to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from envdyno.agent.stages import Stage
from envdyno.plan.plan_error import nearest
from envdyno.plan.quantities import parse_positive_duration
from envdyno.plan.run_request import DEFAULT_NUM_ENVS
from envdyno.plan.sections import (
    ExperimentSection,
    GateSection,
    MeasureSection,
    PlacementSection,
    Section,
)
from envdyno.plan.side_section import SideSection, check_side_name
from envdyno.plan.sweep_section import SweepSection
from envdyno.sides.comparison import Allowances
from envdyno.sides.request import OptionValue, SideRequest

_ONLY_LENGTH = (("experiment", "budget"), ("experiment", "wait_idle"))
"""Keys that decide how long an experiment goes on, not what it does; they may change when it is resumed."""


def _deadlines(value: Any) -> Any:
    """Read ``stage = duration``; an unknown stage is answered with the nearest."""
    if not isinstance(value, dict):
        return value
    stages = [stage.value for stage in Stage]
    for name in value:
        if name not in stages:
            hint = nearest(str(name), stages)
            raise ValueError(f"`{name}` is not a stage of a run.{hint} Stages: {', '.join(stages)}.")
    return {Stage(name): parse_positive_duration(one) for name, one in value.items()}


def _axes(value: Any) -> Any:
    """Read lists as tuples, and one value as a list of one."""
    if not isinstance(value, dict):
        return value
    return {name: tuple(one) if isinstance(one, list) else one for name, one in value.items()}


def _tolerances(value: Any) -> Any:
    """Read whole numbers too, and refuse what is no share."""
    if not isinstance(value, dict):
        return value
    for name, share in value.items():
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < float("inf"):
            raise ValueError(f"the tolerance of {name} is a relative difference such as 0.05, not {share!r}.")
    return {name: float(share) for name, share in value.items()}


SWEPT_SIDE = "here"
"""Name of a sweep's one side, where the plan names none."""


class ExperimentPlan(Section):
    """A whole plan: of an experiment that compares sides, or of a sweep of one side over settings."""

    experiment: ExperimentSection
    sides: dict[str, SideSection]
    """In the order of the plan; the first is what the others are compared with."""
    options: dict[str, OptionValue] = Field(default_factory=dict)
    """Options of the workload, for all sides."""
    axes: Annotated[dict[str, tuple[OptionValue, ...]], BeforeValidator(_axes)] = Field(default_factory=dict)
    """Options that take several values; each combination makes a case."""
    measure: MeasureSection = MeasureSection()
    placement: PlacementSection = PlacementSection()
    deadlines: Annotated[dict[Stage, float], BeforeValidator(_deadlines)] = Field(default_factory=dict)
    """Seconds for each stage, where not the usual ones."""
    tolerances: Annotated[dict[str, float], BeforeValidator(_tolerances)] = Field(default_factory=dict)
    """By fact of the work done, such as ``reward_mean``: the relative difference that is still the same."""
    gate: GateSection | None = None
    sweep: SweepSection | None = None
    """With it, the plan asks which settings are best, and has one side."""

    @model_validator(mode="before")
    @classmethod
    def _usual_sweep(cls, value: Any) -> Any:
        """Fill in what is usual for a sweep and not for a comparison."""
        if not isinstance(value, dict) or value.get("sweep") is None:
            return value
        experiment = value.get("experiment", {})
        if isinstance(experiment, dict):
            value = {**value, "experiment": {"disturbed_repeats": 1, "attribution_pairs": 0, **experiment}}
        return value if value.get("sides") else {**value, "sides": {SWEPT_SIDE: {}}}

    @field_validator("sides")
    @classmethod
    def _side_names(cls, value: dict[str, SideSection]) -> dict[str, SideSection]:
        folded: dict[str, str] = {}
        for name in value:
            check_side_name(name)
            twin = folded.setdefault(name.lower(), name)
            if twin != name:
                raise ValueError(f"the sides {twin} and {name} differ in upper and lower case only.")
        return value

    @field_validator("axes")
    @classmethod
    def _axes_vary(cls, value: dict[str, tuple[OptionValue, ...]]) -> dict[str, tuple[OptionValue, ...]]:
        for name, values in value.items():
            if not values:
                raise ValueError(f"the axis {name} has no values.")
            if len(set(map(repr, values))) != len(values):
                raise ValueError(f"the axis {name} has a value twice.")
            if name == "num_envs":
                raise ValueError("num_envs is no option; write several numbers in experiment.num_envs.")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> ExperimentPlan:
        if self.sweep is not None:
            _check_sweep(self)
        elif len(self.sides) < 2:
            names = ", ".join(self.sides) or "none"
            raise ValueError(
                f"an experiment compares at least two sides, and has {names}. Add another table "
                "[sides.NAME]; to compare a side with itself, set experiment.aa = true and describe it "
                "twice."
            )
        for axis in self.axes:
            holders = [name for name, side in self.sides.items() if axis in side.options]
            if holders:
                raise ValueError(f"the option {axis} is an axis, and the side {holders[0]} sets it too.")
            if axis in self.options:
                raise ValueError(f"the option {axis} is an axis, and [options] sets it too.")
        return self

    def side_requests(self, directory: Path) -> tuple[SideRequest, ...]:
        """Return what the preparation is asked for; relative paths start at ``directory``."""
        modules = self.experiment.modules
        return tuple(side.request(name, directory, modules) for name, side in self.sides.items())

    @property
    def allowances(self) -> Allowances:
        """What may differ between the sides."""
        experiment = self.experiment
        return Allowances(
            same=experiment.aa,
            package_differences=experiment.allow_package_diff,
            packages=experiment.packages,
            dependency_faults=experiment.allow_dependency_faults,
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types, defaults written out, in a fixed order of keys."""
        return self.model_dump(mode="json")

    @property
    def digest(self) -> str:
        """SHA-256 over all that decides what is run; an experiment is resumed only under an equal one."""
        body = self.to_json()
        for table, key in _ONLY_LENGTH:
            del body[table][key]
        if self.sweep is None:
            # Plans of the time before there were sweeps keep their digest.
            del body["sweep"]
        # The first side is the one that the others are compared with, so their order counts.
        body["sides"] = list(body["sides"].items())
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _check_sweep(plan: ExperimentPlan) -> None:
    """Refuse what has no meaning in a sweep.

    Raises:
        ValueError: the plan asks for it.
    """
    if len(plan.sides) != 1:
        raise ValueError(
            f"a sweep is of one side, and this plan has {', '.join(plan.sides)}. Take [sweep] away to "
            "compare them, or sweep each by itself."
        )
    if plan.gate is not None:
        raise ValueError("a sweep compares settings, not sides: it has no gate. Take [gate] away.")
    if plan.axes:
        raise ValueError("a sweep goes over batch sizes, workers and threads; [axes] is for comparisons.")
    if plan.experiment.aa or plan.experiment.attribution_pairs:
        raise ValueError("a sweep has neither an A/A nor attribution pairs; take them out of [experiment].")
    if "num_envs" in plan.experiment.model_fields_set and plan.experiment.num_envs != (DEFAULT_NUM_ENVS,):
        raise ValueError("the batch sizes of a sweep stand in sweep.num_envs, not in experiment.num_envs.")
    if plan.placement.workers_per_node != 1:
        raise ValueError(
            "the workers of a sweep stand in sweep.workers_per_node, not in placement.workers_per_node."
        )


def changed_keys(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """List how two plans in JSON types differ, as ``key: old value → new value``."""
    found: list[str] = []
    for key in dict.fromkeys((*old, *new)):
        place = f"{prefix}{key}"
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            found += changed_keys(before, after, f"{place}.")
        elif before != after:
            found.append(f"{place}: {json.dumps(before)} → {json.dumps(after)}")
    return found
