"""Before anything is measured: every side builds every case once, and is held against what it should be.

This proves that each side loads its own code, that the sides of a case do comparable work, and it warms each
side's caches, so that no measured run is the first of its side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envdyno.agent.measure.origin import Origin
from envdyno.launch.measure import Description, describe
from envdyno.launch.planned import request_of
from envdyno.launch.session import Session
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.usage_error import UsageError
from envdyno.sides.prepared import PreparedSide
from envdyno.sides.problems import SideError
from envdyno.sides.proof import require_distinct, require_proof

MUST_AGREE = (
    "num_envs",
    "action",
    "observation",
    "autoreset",
    "substeps",
    "step_dt_s",
    "episode_limit_steps",
    "threads",
)
"""Parts of a workload's specification that have to be equal before a ratio means anything."""


@dataclass
class Preflight:
    """What was found before the first run."""

    specs: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """By case and side."""
    loaded: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By side: what its processes imported, over all cases."""
    misaligned: dict[str, str] = field(default_factory=dict)
    """Cases whose sides cannot be compared, and why."""
    cannot_run: dict[str, str] = field(default_factory=dict)
    """Cases that a side could not build, and why."""


def check_before(
    plan: ExperimentPlan,
    runs: Sequence[PlannedRun],
    sides: Mapping[str, PreparedSide],
    session: Session,
    begin: Callable[[PlannedRun], None],
) -> Preflight:
    """Build every case on every side once.

    Raises:
        UsageError: no case can be built, or a side does not load its own code, or loads the other side's.
    """
    found = Preflight()
    origins: dict[str, list[Origin]] = {name: [] for name in sides}
    for run in first_of_each(runs):
        if run.case in found.cannot_run:
            continue
        begin(run)
        side = sides[run.side]
        try:
            description = describe(request_of(plan, run, side), session)
        except UsageError as error:
            found.cannot_run[run.case] = f"Side {run.side} cannot build it: {error}"
            continue
        found.specs[run.case, run.side] = description.spec
        _merge_loaded(found, run.side, description)
        own = [Origin.from_json(body) for body in description.loaded.get("origins", ())]
        named = tuple(description.spec.get("modules_under_test") or ())
        _prove(lambda side=side, own=own, named=named: require_proof(side, own, named))  # type: ignore[misc]
        origins[run.side] += own
    cases = dict.fromkeys(run.case for run in runs)
    if len(found.cannot_run) == len(cases):
        raise UsageError(
            "No case can be run. " + " ".join(f"{case}: {why}" for case, why in found.cannot_run.items())
        )
    _compare_sides(plan, sides, origins)
    for case in cases.keys() - found.cannot_run.keys():
        difference = spec_differences({side: found.specs[case, side] for side in sides})
        if difference:
            found.misaligned[case] = difference
    return found


def first_of_each(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Return one planned run of every case and side, in order."""
    chosen: dict[tuple[str, str], PlannedRun] = {}
    for run in runs:
        chosen.setdefault((run.case, run.side), run)
    return list(chosen.values())


def _merge_loaded(found: Preflight, side: str, description: Description) -> None:
    before = found.loaded.get(side, {})
    merged = dict(before.get("distributions", {})) | dict(description.loaded.get("distributions", {}))
    origins = {body["module"]: body for body in before.get("origins", ())}
    origins |= {body["module"]: body for body in description.loaded.get("origins", ())}
    found.loaded[side] = {"distributions": merged, "origins": list(origins.values())}


def _compare_sides(
    plan: ExperimentPlan, sides: Mapping[str, PreparedSide], origins: Mapping[str, list[Origin]]
) -> None:
    if plan.experiment.aa:
        return
    first, *others = sides.values()
    for other in others:
        _prove(
            lambda other=other: require_distinct(first, origins[first.name], other, origins[other.name])  # type: ignore[misc]
        )


def _prove(proof: Callable[[], None]) -> None:
    try:
        proof()
    except SideError as error:
        raise UsageError(str(error)) from error


def spec_differences(specs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return in words where the specifications of the sides differ; ``None`` where they agree.

    What one side does not tell is no difference.
    """
    (base, first), *others = specs.items()
    parts = [
        f"{name} is {first.get(name)} on {base} and {spec.get(name)} on {side}"
        for side, spec in others
        for name in MUST_AGREE
        if first.get(name) is not None and spec.get(name) is not None and first[name] != spec[name]
    ]
    return "; ".join(parts) or None
