"""From a job to a workload that has taken its first step: the stages import, build and first step."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from envdyno.agent.edges import install_probes
from envdyno.agent.job import Job, Purpose, Timing
from envdyno.agent.measure.actions import action_ring
from envdyno.agent.measure.probes import InstalledProbes
from envdyno.agent.measure.window import EdgeReader, Stepper
from envdyno.agent.stages import Ledger, Stage
from envdyno.agent.workloads.built import BuiltWorkload, CountedStep, accept, settle_counting
from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.gymnasium_count import watch_vector
from envdyno.agent.workloads.named_factory import named_factory
from envdyno.agent.workloads.registry import Resolved, call_factory, seed_notes

OWN_ACTIONS = "workload"
SITE_FOLDERS = ("site-packages", "dist-packages")


def extend_path(folders: tuple[str, ...]) -> None:
    """Put ``folders`` on the import path: before the installed packages, after the standard library.

    A side's tree may replace an installed package; a file called ``random.py`` beside it may not replace
    the standard library under the agent's feet.
    """
    installed = (index for index, entry in enumerate(sys.path) if entry.rstrip("/").endswith(SITE_FOLDERS))
    at = next(installed, len(sys.path))
    sys.path[at:at] = folders
    importlib.invalidate_caches()


def import_workload(job: Job) -> tuple[Resolved, Callable[..., Any], InstalledProbes | None]:
    """Import the factory, and whatever framework its module says it needs; put the probes in place first."""
    extend_path(job.sys_path)
    probes = install_probes(job)
    resolved, factory = named_factory(job.workload)
    module = sys.modules.get(getattr(factory, "__module__", ""))
    import_framework = getattr(module, "import_framework", None)
    if callable(import_framework):
        import_framework(**job.options)
    return resolved, factory, probes


def build_workload(job: Job, resolved: Resolved, factory: Callable[..., Any]) -> BuiltWorkload:
    """Build the workload and bring it to a start state."""
    context = BuildContext(
        worker=job.worker,
        workers=job.workers,
        cpus=job.cpus,
        threads=job.threads,
        attribution=job.timing is Timing.ATTRIBUTION,
        check=job.purpose is Purpose.CHECK,
    )
    built = call_factory(
        resolved,
        factory,
        num_envs=job.num_envs,
        seed=job.seed,
        options=job.options,
        context=context,
    )
    if context.check:
        watch_vector(built)
    workload = accept(built, job.workload, job.num_envs, job.seed)
    workload = replace(workload, notes=(*workload.notes, *seed_notes(factory)))
    if workload.reset is not None:
        workload.reset()
    return workload


@dataclass(frozen=True)
class Stepping:
    """A workload that has taken its first step."""

    workload: BuiltWorkload
    counted: CountedStep
    stepper: Stepper
    actions: str
    """Where the actions come from: as asked, or ``workload`` where it takes none from outside."""


def first_step(
    job: Job, workload: BuiltWorkload, ledger: Ledger, readers: tuple[EdgeReader, ...]
) -> Stepping:
    """Prepare the actions, take the first step, and settle how steps are counted."""
    ring = action_ring(
        workload.spec.action, job.num_envs, job.actions, job.actions_seed, workload.make_actions
    )
    with ledger.stage(Stage.FIRST_STEP):
        outcome = workload.step(ring[0])
        if workload.synchronize is not None:
            workload.synchronize()
    counted = settle_counting(workload, outcome)
    actions = ring[1:] + ring[:1]
    stepper = Stepper(counted.step, actions, time.monotonic_ns, workload.synchronize, readers)
    takes_actions = workload.spec.action is not None or workload.make_actions is not None
    return Stepping(workload, counted, stepper, job.actions.value if takes_actions else OWN_ACTIONS)
