"""Factories of the suite's cases, as named in :mod:`envdyno.suite.catalogue`.

Every factory takes the workload contract's ``num_envs``, ``seed`` and ``context``, and the option
``runtime``: ``direct`` (one fused class) or ``manager`` (terms and managers); both compute the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import TypeVar

from envdyno.agent.workloads.contract import BuildContext
from envdyno.suite.direct.motion_tracking import DirectMotionTrackingEnvironment
from envdyno.suite.direct.velocity import DirectVelocityEnvironment
from envdyno.suite.engines.contract import Engine, EngineRequest
from envdyno.suite.engines.load import EngineName, make_engine
from envdyno.suite.environment import SuiteEnvironment, TaskSize
from envdyno.suite.streams import Streams
from envdyno.suite.tasks.g1_motion_tracking import G1_MOTION_TRACKING
from envdyno.suite.tasks.g1_walk_flat import G1_WALK_FLAT
from envdyno.suite.tasks.go2_joystick_flat import GO2_JOYSTICK_FLAT


class Runtime(str, Enum):
    """How a task is computed."""

    DIRECT = "direct"
    MANAGER = "manager"


_Choice = TypeVar("_Choice", bound=Enum)
_Maker = Callable[[Engine, int, Streams], SuiteEnvironment]
_TASKS: dict[str, tuple[TaskSize, dict[Runtime, _Maker]]] = {
    **{
        task.size.name: (task.size, {Runtime.DIRECT: partial(DirectVelocityEnvironment, task)})
        for task in (GO2_JOYSTICK_FLAT, G1_WALK_FLAT)
    },
    G1_MOTION_TRACKING.size.name: (
        G1_MOTION_TRACKING.size,
        {Runtime.DIRECT: partial(DirectMotionTrackingEnvironment, G1_MOTION_TRACKING)},
    ),
}


def build(
    task: str, engine: str, *, num_envs: int, seed: int, threads: int, runtime: str = "direct"
) -> SuiteEnvironment:
    """Build a task on an engine.

    Args:
        task: name of the task.
        engine: name of the engine.
        num_envs: number of environments.
        seed: equal seeds give equal episodes, bit for bit, for any number of threads.
        threads: size of the engine's thread pool.
        runtime: ``direct`` or ``manager``.

    Raises:
        ValueError: an unknown name.
        EngineMissingError: the engine is not installed.
    """
    size, makers = _TASKS[task]
    chosen = _choice(Runtime, "runtime", runtime)
    request = EngineRequest(size.robot, num_envs, threads, size.substep_s, size.substeps, size.readout)
    made = make_engine(_choice(EngineName, "engine", engine), request)
    return makers[chosen](made, num_envs, Streams(seed))


def _choice(kind: type[_Choice], what: str, value: str) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        known = " or ".join(member.value for member in kind)
        raise ValueError(f"The suite has no {what} {value!r}; it has {known}.") from None


def go2_joystick_flat_mujoco(
    num_envs: int, seed: int, context: BuildContext, runtime: str = "direct"
) -> SuiteEnvironment:
    """Unitree Go2 follows velocity commands, on MuJoCo."""
    return build(
        "go2_joystick_flat", "mujoco", num_envs=num_envs, seed=seed, threads=context.threads, runtime=runtime
    )


def g1_walk_flat_mujoco(
    num_envs: int, seed: int, context: BuildContext, runtime: str = "direct"
) -> SuiteEnvironment:
    """Unitree G1 walks after velocity commands, on MuJoCo."""
    return build(
        "g1_walk_flat", "mujoco", num_envs=num_envs, seed=seed, threads=context.threads, runtime=runtime
    )


def g1_walk_flat_motrix(
    num_envs: int, seed: int, context: BuildContext, runtime: str = "direct"
) -> SuiteEnvironment:
    """Unitree G1 walks after velocity commands, on MotrixSim."""
    return build(
        "g1_walk_flat", "motrix", num_envs=num_envs, seed=seed, threads=context.threads, runtime=runtime
    )


def g1_motion_tracking_mujoco(
    num_envs: int, seed: int, context: BuildContext, runtime: str = "direct"
) -> SuiteEnvironment:
    """Unitree G1 follows a reference motion, on MuJoCo."""
    return build(
        "g1_motion_tracking", "mujoco", num_envs=num_envs, seed=seed, threads=context.threads, runtime=runtime
    )


def g1_motion_tracking_motrix(
    num_envs: int, seed: int, context: BuildContext, runtime: str = "direct"
) -> SuiteEnvironment:
    """Unitree G1 follows a reference motion, on MotrixSim."""
    return build(
        "g1_motion_tracking", "motrix", num_envs=num_envs, seed=seed, threads=context.threads, runtime=runtime
    )
