"""What one planned run asks of the launcher, on a side that is ready."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.agent.placement.request import Request
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.run_request import RunRequest
from envdyno.sides.prepared import PreparedSide


def planned_request(plan: ExperimentPlan, run: PlannedRun, side: PreparedSide) -> RunRequest:
    """Put plan, run and side together.

    The options of the prepared side replace those of the plan's text, for they have the folder of its code
    filled in. ``environ`` holds what is set; what is taken away is :meth:`PreparedSide.child_environ`'s part.
    """
    measure = plan.measure
    return RunRequest(
        workload=run.workload,
        options={**run.options, **side.options},
        num_envs=run.num_envs,
        window_s=run.window_s or measure.window,
        warmup_steps=measure.warmup_steps,
        actions=measure.actions,
        seed=run.seed,
        placement=placement_request(plan, run.workers_per_node, run.threads),
        strict_placement=plan.placement.strict,
        foreign_load_limit_cores=measure.foreign_load_limit_cores,
        allow_nonfinite=measure.allow_nonfinite,
        timing=run.timing,
        phase_cpu=measure.phase_cpu,
        probes=measure.probes,
        hardware_counters=measure.hardware_counters,
        deadlines_s=dict(plan.deadlines),
        python=side.python,
        sys_path=side.sys_path,
        environ=dict(side.environ),
        cwd=side.cwd or Path.cwd(),
        modules=modules_to_report(side),
    )


def placement_request(
    plan: ExperimentPlan, workers_per_node: int | None = None, threads: int | None = None
) -> Request:
    """Return the plan's wish for placements, or that of one run which differs from it."""
    placement = plan.placement
    return Request(
        numa=placement.numa,
        workers_per_node=workers_per_node or placement.workers_per_node,
        cpus=None if placement.cpus is None else parse_cpulist(placement.cpus),
        smt=placement.smt,
        memory=placement.memory,
        threads=threads,
    )


def modules_to_report(side: PreparedSide) -> tuple[str, ...]:
    """Return the modules whose origin a process of this side is asked for."""
    names: Mapping[str, object] = side.modules
    return tuple(dict.fromkeys((*names, *side.named_modules)))
