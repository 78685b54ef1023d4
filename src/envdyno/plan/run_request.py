"""What one run is asked to measure, validated before anything starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from envdyno.agent.job import Timing
from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.request import Request, parse_numa
from envdyno.agent.stages import Stage
from envdyno.agent.workloads.entry_points import ENTRY_POINT_GROUP, installed
from envdyno.agent.workloads.registry import WorkloadError, resolve
from envdyno.plan.usage_error import UsageError
from envdyno.record.case import Mode
from envdyno.record.hardware import HardwareCounting
from envdyno.sides.entry_points import entry_point_names
from envdyno.sides.interpreter import check_starts
from envdyno.sides.problems import SideError

DEFAULT_WORKLOAD = "go2_joystick_flat/mujoco"
DEFAULT_NUM_ENVS = 2048
DEFAULT_WINDOW_S = 10.0
DEFAULT_WARMUP_STEPS = 30
FOREIGN_LOAD_LIMIT_CORES = 0.1


class RunRequest(BaseModel):
    """One case and how to measure it."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    workload: str = DEFAULT_WORKLOAD
    options: dict[str, Any] = Field(default_factory=dict)
    num_envs: int = DEFAULT_NUM_ENVS
    """Total batch; split over the workers."""
    mode: Mode = Mode.WINDOW
    window_s: float = DEFAULT_WINDOW_S
    steps: int = 0
    """Vector steps in latency mode."""
    warmup_steps: int = DEFAULT_WARMUP_STEPS
    actions: ActionSource = ActionSource.RANDOM
    seed: int = 0
    placement: Request = Request()
    strict_placement: bool = False
    exclusive: bool = False
    foreign_load_limit_cores: float = FOREIGN_LOAD_LIMIT_CORES
    allow_nonfinite: bool = False
    timing: Timing = Timing.THROUGHPUT
    phase_cpu: bool = False
    probes: tuple[str, ...] = ()
    hardware_counters: HardwareCounting = HardwareCounting.AUTO
    deadlines_s: dict[Stage, float] = Field(default_factory=dict)
    python: Path = Path(sys.executable)
    """Interpreter of the side under test."""
    sys_path: tuple[Path, ...] = ()
    environ: dict[str, str] = Field(default_factory=dict)
    """Environment variables beside those of the control."""
    whole_environ: dict[str, str] | None = None
    """The whole environment of the workers, in place of the control's with ``environ``."""
    cwd: Path = Field(default_factory=Path.cwd)
    modules: tuple[str, ...] = ()
    """Modules under test, beside those that the workload names."""


def check(request: RunRequest) -> None:
    """Refuse what can be seen to be wrong before any process starts.

    Raises:
        UsageError: a number is out of range, the workload's name is unknown, or a place is not there.
    """
    _check_numbers(request)
    if not request.python.is_file():
        raise UsageError(f"There is no interpreter at {request.python}; give --python a path that exists.")
    if request.python != Path(sys.executable):
        try:
            check_starts(request.python)
        except SideError as error:
            raise UsageError(f"--python {request.python} was given. {error}") from error
    try:
        parse_numa(request.placement.numa)
        if request.python == Path(sys.executable):
            # Another interpreter may have other entry points: there the agent looks.
            resolve(request.workload)
        else:
            _check_entry_point(request)
    except (PlacementError, WorkloadError) as error:
        raise UsageError(str(error)) from error


def _check_entry_point(request: RunRequest) -> None:
    """Refuse a name that an entry point beside envdyno gives, and none of the interpreter under test."""
    name = request.workload.partition(":")[0]
    if name not in {entry.name for entry in installed()}:
        return
    environ = (
        request.whole_environ if request.whole_environ is not None else {**os.environ, **request.environ}
    )
    if name not in entry_point_names(request.python, environ):
        raise UsageError(
            f"{request.python} has no entry point {name!r} of the group {ENTRY_POINT_GROUP}. A package that "
            f"is installed for {sys.executable} has it: install that package for {request.python} too, or "
            "give the factory as module:attribute."
        )


def _check_numbers(request: RunRequest) -> None:
    if request.num_envs < 1:
        raise UsageError(f"--num-envs {request.num_envs} was asked for; a batch has at least 1 environment.")
    if request.mode is Mode.WINDOW and not 0 < request.window_s < float("inf"):
        raise UsageError(f"--duration {request.window_s:g}s was asked for; a window is longer than 0 s.")
    if request.mode is Mode.LATENCY and request.steps < 1:
        raise UsageError(f"--steps {request.steps} was asked for; latency needs at least 1 vector step.")
    if request.warmup_steps < 0:
        raise UsageError(
            f"--warmup {request.warmup_steps} was asked for; it is a number of steps, 0 or more."
        )
    if request.seed < 0:
        raise UsageError(f"--seed {request.seed} was asked for; a seed is 0 or more.")
    if request.placement.workers_per_node < 1:
        raise UsageError(
            f"--workers-per-node {request.placement.workers_per_node} was asked for; it has to be at least 1."
        )
    if request.placement.threads is not None and request.placement.threads < 1:
        raise UsageError(f"--threads {request.placement.threads} was asked for; it has to be at least 1.")
    if not request.foreign_load_limit_cores >= 0:
        raise UsageError(
            f"--foreign-load-limit {request.foreign_load_limit_cores:g} was asked for; "
            "it is a number of cores, 0 or more."
        )
    for stage, seconds in request.deadlines_s.items():
        if not seconds > 0:
            raise UsageError(
                f"--deadline {stage.value}={seconds:g} was asked for; it has to be longer than 0 s."
            )


def split_batch(num_envs: int, workers: int) -> tuple[int, ...]:
    """Return each worker's share of the total batch; the remainder goes to the first workers, one each.

    Raises:
        UsageError: there are fewer environments than workers.
    """
    if num_envs < workers:
        raise UsageError(
            f"--num-envs {num_envs} is the total batch, and it cannot be split over {workers} workers: "
            f"give at least {workers} environments, or fewer workers (--numa, --workers-per-node)."
        )
    share, rest = divmod(num_envs, workers)
    return tuple(share + (index < rest) for index in range(workers))
