"""Factories of the suite's cases, as named in :mod:`envdyno.suite.catalogue`.

Every factory takes the workload contract's ``num_envs``, ``seed`` and ``context``, and the options

``runtime``
    ``direct``, one fused class, or ``manager``, terms and managers; both compute the same numbers.
``action_application``
    ``step``: joint targets go to the engine once a control step, in one dispatch. ``substep``: before every
    substep, in a dispatch each, as manager-based frameworks do. For the runtime ``manager`` only.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.options import choice, one_of
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.suite.engines.contract import Engine, EngineRequest
from envdyno.suite.engines.load import EngineName, make_engine
from envdyno.suite.environment import SuiteEnvironment
from envdyno.suite.manager.configuration import ActionApplication, ManagerConfiguration
from envdyno.suite.streams import Streams
from envdyno.suite.tasks.g1_motion_tracking import G1_MOTION_TRACKING
from envdyno.suite.tasks.g1_walk_flat import G1_WALK_FLAT
from envdyno.suite.tasks.go2_joystick_flat import GO2_JOYSTICK_FLAT
from envdyno.suite.tasks.motion_tracking import MotionTrackingTask
from envdyno.suite.tasks.velocity import VelocityTask

SUITE = "The suite"
TASKS: dict[str, VelocityTask | MotionTrackingTask] = {
    task.size.name: task for task in (GO2_JOYSTICK_FLAT, G1_WALK_FLAT, G1_MOTION_TRACKING)
}


class Runtime(str, Enum):
    """How a task is computed."""

    DIRECT = "direct"
    MANAGER = "manager"


def build(
    task: str,
    engine: str,
    *,
    num_envs: int,
    seed: int,
    threads: int,
    runtime: str = "direct",
    action_application: str = "step",
) -> SuiteEnvironment:
    """Build a task on an engine.

    Args:
        task: name of the task.
        engine: name of the engine, ``mujoco`` or ``motrix``.
        num_envs: number of environments.
        seed: equal seeds give equal episodes, bit for bit, for any number of threads.
        threads: size of the engine's thread pool.
        runtime: ``direct`` or ``manager``.
        action_application: ``step`` or ``substep``.

    Raises:
        ValueError: an unknown name, or options that do not go together.
        EngineMissingError: the engine is not installed.
    """
    chosen = choice(SUITE, "runtime", runtime, Runtime)
    application = choice(SUITE, "action_application", action_application, ActionApplication)
    if chosen is Runtime.DIRECT and application is ActionApplication.SUBSTEP:
        raise WorkloadError(
            "The direct runtime hands its targets to the engine once a step. "
            "Ask for runtime=manager to have action_application=substep."
        )
    definition = TASKS[one_of(SUITE, "task", task, TASKS)]
    size = definition.size
    request = EngineRequest(size.robot, num_envs, threads, size.substep_s, size.substeps, size.readout)
    made = make_engine(choice(SUITE, "engine", engine, EngineName), request)
    if chosen is Runtime.DIRECT:
        return _direct(definition, made, num_envs, Streams(seed))
    return _manager(definition, made, num_envs, Streams(seed), application)


def _direct(
    task: VelocityTask | MotionTrackingTask, engine: Engine, num_envs: int, streams: Streams
) -> SuiteEnvironment:
    if isinstance(task, VelocityTask):
        from envdyno.suite.direct.velocity import DirectVelocityEnvironment

        return DirectVelocityEnvironment(task, engine, num_envs, streams)
    from envdyno.suite.direct.motion_tracking import DirectMotionTrackingEnvironment

    return DirectMotionTrackingEnvironment(task, engine, num_envs, streams)


def _manager(
    task: VelocityTask | MotionTrackingTask,
    engine: Engine,
    num_envs: int,
    streams: Streams,
    application: ActionApplication,
) -> SuiteEnvironment:
    from envdyno.suite.manager.environment import ManagerEnvironment

    configuration: ManagerConfiguration
    if isinstance(task, VelocityTask):
        from envdyno.suite.manager.velocity import configure_velocity

        configuration = configure_velocity(task)
    else:
        from envdyno.suite.manager.motion_tracking import configure_motion_tracking

        configuration = configure_motion_tracking(task)
    return ManagerEnvironment(task.size, configuration, engine, num_envs, streams, application)


def _factory(task: str, engine: str) -> Callable[..., SuiteEnvironment]:
    def factory(
        num_envs: int,
        seed: int,
        context: BuildContext,
        runtime: str = "direct",
        action_application: str = "step",
    ) -> SuiteEnvironment:
        return build(
            task,
            engine,
            num_envs=num_envs,
            seed=seed,
            threads=context.threads,
            runtime=runtime,
            action_application=action_application,
        )

    factory.__name__ = factory.__qualname__ = f"{task}_{engine}"
    factory.__doc__ = f"Build {task} on {engine}; see :func:`build`."
    return factory


go2_joystick_flat_mujoco = _factory("go2_joystick_flat", "mujoco")
g1_walk_flat_mujoco = _factory("g1_walk_flat", "mujoco")
g1_walk_flat_motrix = _factory("g1_walk_flat", "motrix")
g1_motion_tracking_mujoco = _factory("g1_motion_tracking", "mujoco")
g1_motion_tracking_motrix = _factory("g1_motion_tracking", "motrix")
