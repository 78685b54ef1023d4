"""Before anything is measured: every side builds every case once, and is held against what it should be.

This proves that each side loads its own code, that the sides of a case do comparable work, and it warms each
side's caches, so that no measured run is the first of its side.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envdyno.agent.job import Timing
from envdyno.agent.measure.origin import Origin
from envdyno.experiment.planned_runs import request_of
from envdyno.host.disturbance import disturbances
from envdyno.host.site import Site
from envdyno.launch.measure import Description, describe
from envdyno.launch.session import Session
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.usage_error import UsageError
from envdyno.sides.prepared import PreparedSide
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
MAY_BE_ASKED = frozenset({"threads", "episode_limit_steps"})
"""Of these, what may differ where an option of the same name differs between the sides: that is asked."""
TOLD_BEFORE = frozenset({"governor", "CPU quota", "NUMA balancing", "load on the chosen CPUs", "steal"})
"""Disturbances that are worth a word before an experiment; the others are as usual on most machines."""
LOAD_SAMPLE_S = 0.5


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
    notices: tuple[str, ...] = ()


def check_before(
    plan: ExperimentPlan,
    runs: Sequence[PlannedRun],
    sides: Mapping[str, PreparedSide],
    session: Session,
    begin: Callable[[PlannedRun], None],
) -> Preflight:
    """Build every case on every side once; of a sweep, whose cases differ in size only, one.

    Raises:
        UsageError: no case can be built.
        SideError: a side does not load its own code, or loads that of the other side.
        Interrupted: the user asked to end.
    """
    found = Preflight()
    origins: dict[str, list[Origin]] = {name: [] for name in sides}
    looks = first_of_each(runs) if plan.sweep is None else [most_threads(runs)]
    for run in looks:
        if run.case in found.cannot_run:
            continue
        begin(run)
        side = sides[run.side]
        try:
            description = _describe(plan, run, side, session)
        except UsageError as error:
            found.cannot_run[run.case] = f"Side {run.side} cannot build it. {error}"
            continue
        found.specs[run.case, run.side] = description.spec
        found.notices += tuple(threads_not_taken(run, description.spec))
        found.notices += tuple(
            f"Side {run.side} of {run.case}: {message}" for message in description.memory_short
        )
        _merge_loaded(found, run.side, description)
        own = [Origin.from_json(body) for body in description.loaded.get("origins", ())]
        require_proof(side, own, tuple(description.spec.get("modules_under_test") or ()))
        origins[run.side] += own
    cases = dict.fromkeys(run.case for run in looks)
    if len(found.cannot_run) == len(cases):
        raise UsageError(
            "No case can be run. " + " ".join(f"{case}: {why}" for case, why in found.cannot_run.items())
        )
    _compare_sides(plan, sides, origins)
    found.misaligned = misaligned_cases(found.specs, sides, cases.keys() - found.cannot_run.keys())
    return found


def first_of_each(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Return one planned run of every case and side, in order."""
    chosen: dict[tuple[str, str], PlannedRun] = {}
    for run in runs:
        chosen.setdefault((run.case, run.side), run)
    return list(chosen.values())


def most_threads(runs: Sequence[PlannedRun]) -> PlannedRun:
    """Return the planned run with the most threads, of these the one with the smallest batch."""
    return min(runs, key=lambda run: (-(run.threads or 0), run.num_envs))


def threads_not_taken(run: PlannedRun, spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence where a workload steps with another number of threads than it was told."""
    told = spec.get("threads")
    if run.threads is not None and told is not None and told != run.threads:
        yield (
            f"{run.workload} was told to step with {run.threads} threads, and says that it steps with "
            f"{told}: settings that differ in threads only may do the same."
        )


def machine_notices(site: Site, sample_s: float = LOAD_SAMPLE_S) -> Iterator[str]:
    """Yield what disturbs measuring on this machine right now, and what to do about it."""
    for one in disturbances(site, sample_s=sample_s):
        if one.advice and one.name in TOLD_BEFORE:
            yield f"{one.name}: {one.found}. {one.advice}"


def _describe(plan: ExperimentPlan, run: PlannedRun, side: PreparedSide, session: Session) -> Description:
    """Build a case once. Where probes are asked for, they are put in place too, to find a wrong one now."""
    request = request_of(plan, run, side, Path.cwd())
    if request.probes and plan.experiment.attribution_pairs:
        request = request.model_copy(update={"timing": Timing.ATTRIBUTION})
    return describe(request, session, name=f"preflight-{run.id}")


def _merge_loaded(found: Preflight, side: str, description: Description) -> None:
    before = found.loaded.get(side, {})
    merged = dict(before.get("distributions", {})) | dict(description.loaded.get("distributions", {}))
    origins = {body["module"]: body for body in before.get("origins", ())}
    origins |= {
        body["module"]: body
        for body in description.loaded.get("origins", ())
        if body["loaded"] or body["module"] not in origins
    }
    found.loaded[side] = {"distributions": merged, "origins": list(origins.values())}


def _compare_sides(
    plan: ExperimentPlan, sides: Mapping[str, PreparedSide], origins: Mapping[str, list[Origin]]
) -> None:
    if plan.experiment.aa:
        return
    first, *others = sides.values()
    for other in others:
        require_distinct(first, origins[first.name], other, origins[other.name])


def misaligned_cases(
    specs: Mapping[tuple[str, str], Mapping[str, Any]],
    sides: Mapping[str, PreparedSide],
    cases: Collection[str],
) -> dict[str, str]:
    """Return the cases whose sides have other specifications, and how they differ."""
    asked = frozenset(
        name for name in MAY_BE_ASKED if len({repr(side.options.get(name)) for side in sides.values()}) > 1
    )
    found = {case: spec_differences({side: specs[case, side] for side in sides}, asked) for case in cases}
    return {case: difference for case, difference in found.items() if difference is not None}


def spec_differences(
    specs: Mapping[str, Mapping[str, Any]], asked: Collection[str] = frozenset()
) -> str | None:
    """Return in words where the specifications of the sides differ; ``None`` where they agree.

    Args:
        specs: by side, the first being the one that the others are compared with.
        asked: names that are meant to differ.

    What one side does not tell is no difference.
    """
    (base, first), *others = specs.items()
    parts = [
        f"{name} is {_shown(first[name])} on {base} and {_shown(spec[name])} on {side}"
        for side, spec in others
        for name in MUST_AGREE
        if name not in asked
        and first.get(name) is not None
        and spec.get(name) is not None
        and first[name] != spec[name]
    ]
    return "; ".join(parts) or None


def _shown(value: Any) -> str:
    """Write an array's specification as one would say it."""
    if isinstance(value, Mapping) and "shape" in value:
        bounds = "" if value.get("low") is None else f" in [{value['low']}, {value['high']}]"
        return f"{value.get('dtype')}{list(value['shape'])}{bounds}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_shown(part)}" for name, part in value.items()) + "}"
    return str(value)
