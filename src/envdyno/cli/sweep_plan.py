"""From the options of ``envdyno sweep`` to a plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envdyno.cli.ab_bundle import plan_to_resume
from envdyno.cli.assets import with_assets
from envdyno.plan.experiment import SWEPT_SIDE
from envdyno.plan.flags import PlanFlags
from envdyno.plan.plan_error import PlanError
from envdyno.plan.read_plan import LoadedPlan, load_plan, plan_from_tables
from envdyno.plan.run_request import DEFAULT_WORKLOAD

_KEYS = {
    "num_envs": "sweep.num_envs",
    "workers_per_node": "sweep.workers_per_node",
    "threads": "sweep.threads",
    "repeats": "sweep.repeats",
    "duration": "measure.window",
    "warmup": "measure.warmup_steps",
    "actions": "measure.actions",
    "foreign_load_limit": "measure.foreign_load_limit_cores",
    "seed": "experiment.seed",
    "order_seed": "experiment.order_seed",
    "budget": "experiment.budget",
    "wait_idle": "experiment.wait_idle",
    "retries": "experiment.retries",
    "disturbed_repeats": "experiment.disturbed_repeats",
    "numa": "placement.numa",
    "cpus": "placement.cpus",
    "smt": "placement.smt",
    "mem": "placement.memory",
}
"""Options, and the keys of the plan that they set."""


def sweep_plan_of(arguments: Mapping[str, Any]) -> LoadedPlan:
    """Return the plan: of the file, of the flags, or of the bundle that is resumed, each with flags on top.

    Raises:
        PlanError: they do not make the plan of a sweep.
        BundleError: the folder to resume holds no experiment.
    """
    workload, plan_file = arguments["workload"], arguments["plan_file"]
    if plan_file is None and workload is not None and workload.endswith(".toml"):
        plan_file, workload = Path(workload), None
    python = arguments["python"]
    flags = PlanFlags(
        cases=() if workload is None else (workload,),
        sides=() if python is None else (f"{SWEPT_SIDE}=python:{python}",),
        options=with_assets(arguments["options"], arguments["assets"]),
        settings={key: _joined(arguments[name]) for name, key in _KEYS.items()},
    )
    if plan_file is not None:
        return require_sweep(load_plan(plan_file, flags))
    if arguments["resume"] is not None:
        return require_sweep(plan_to_resume(arguments["resume"], flags))
    usual = {"experiment": {"cases": [DEFAULT_WORKLOAD]}, "sweep": {}}
    return plan_from_tables(usual, flags, Path.cwd(), "The command line")


def _joined(value: Any) -> Any:
    """Make one list of an option that was given several times; ``None`` of one that was not given."""
    return ",".join(value) or None if isinstance(value, tuple) else value


def require_sweep(loaded: LoadedPlan) -> LoadedPlan:
    """Return the plan, if it is that of a sweep.

    Raises:
        PlanError: it compares sides.
    """
    if loaded.plan.sweep is None:
        raise PlanError(
            loaded.source,
            ["this plan compares sides, and has no [sweep]. Run it by `envdyno ab`, or add a table [sweep]."],
        )
    return loaded


def refuse_sweep(loaded: LoadedPlan) -> LoadedPlan:
    """Return the plan, if it compares sides.

    Raises:
        PlanError: it is that of a sweep.
    """
    if loaded.plan.sweep is not None:
        raise PlanError(loaded.source, ["this is the plan of a sweep. Run it by `envdyno sweep`."])
    return loaded
