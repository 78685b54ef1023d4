"""Factories of the collector cases, as named in :mod:`envdyno.suite.collectors.catalogue`.

Options of every case, beside the task's own ``runtime``:

* ``policy``: ``none`` (default; actions come from the ring, action selection is not measured) or ``torch``
  (the algorithm's actor network chooses them on the CPU);
* ``replay_steps``: vector steps that the replay buffer holds, 64 by default;
* ``policy_threads``: CPU threads of the network; the placement's by default.
"""

from __future__ import annotations

from typing import Protocol

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.options import choice, whole
from envdyno.suite.cases import TASKS, build
from envdyno.suite.collectors.collector import FLASHSAC, SAC, ActingCollector, Algorithm, Collector, Policy
from envdyno.suite.collectors.replay import ReplaySize
from envdyno.suite.collectors.torch_import import import_torch

COLLECTOR = "A collector"
REPLAY_STEPS = 64
LEAST_REPLAY_STEPS = 2
"""A buffer that stores observations once reads a step only when the next is written."""


class CaseFactory(Protocol):
    """What the catalogue names."""

    def __call__(
        self,
        num_envs: int,
        seed: int,
        context: BuildContext,
        runtime: str = "direct",
        policy: str = "none",
        replay_steps: int = REPLAY_STEPS,
        policy_threads: int | None = None,
    ) -> Collector:
        """Build the case."""
        ...


def import_framework(policy: str = "none", **_: object) -> None:
    """Import what the case will need, so that the time counts as import and not as build."""
    if choice(COLLECTOR, "policy", policy, Policy) is Policy.TORCH:
        import_torch()


def build_collector(
    algorithm: Algorithm,
    task: str,
    engine: str,
    *,
    num_envs: int,
    seed: int,
    threads: int,
    runtime: str = "direct",
    policy: str = "none",
    replay_steps: int = REPLAY_STEPS,
    policy_threads: int | None = None,
) -> Collector:
    """Build a collector around a task.

    Args:
        algorithm: which collector.
        task: name of the task.
        engine: name of the engine.
        num_envs: number of environments.
        seed: of the environments, the actor's weights and its noise.
        threads: size of the engine's thread pool.
        runtime: ``direct`` or ``manager``.
        policy: ``none`` or ``torch``.
        replay_steps: vector steps that the replay buffer holds.
        policy_threads: CPU threads of the network; ``threads`` when not given.

    Raises:
        ValueError: an unknown name, or a size that cannot be.
        TorchMissingError: the policy needs PyTorch, which is not installed.
        EngineMissingError: the engine is not installed.
        ReplayTooLargeError: the replay buffer needs more memory than there is.
    """
    chosen = choice(COLLECTOR, "policy", policy, Policy)
    whole(COLLECTOR, "replay_steps", replay_steps, LEAST_REPLAY_STEPS)
    if policy_threads is not None:
        whole(COLLECTOR, "policy_threads", policy_threads)
    import_framework(policy)
    environment = build(task, engine, num_envs=num_envs, seed=seed, threads=threads, runtime=runtime)
    try:
        if chosen is Policy.NONE:
            return Collector(algorithm, environment, replay_steps)
        return ActingCollector(algorithm, environment, replay_steps, seed, policy_threads or threads)
    except BaseException:
        environment.close()
        raise


def _case(algorithm: Algorithm, task: str, engine: str) -> CaseFactory:
    def memory_need(num_envs: int, replay_steps: int = REPLAY_STEPS, **_: object) -> int:
        size = TASKS[task].size
        joints = size.robot.num_joints
        replay = ReplaySize(replay_steps, num_envs, size.policy_size, size.critic_size, joints)
        return replay.bytes_needed(algorithm.layout)

    def factory(
        num_envs: int,
        seed: int,
        context: BuildContext,
        runtime: str = "direct",
        policy: str = "none",
        replay_steps: int = REPLAY_STEPS,
        policy_threads: int | None = None,
    ) -> Collector:
        return build_collector(
            algorithm,
            task,
            engine,
            num_envs=num_envs,
            seed=seed,
            threads=context.threads,
            runtime=runtime,
            policy=policy,
            replay_steps=replay_steps,
            policy_threads=policy_threads,
        )

    # Asked for before the build, see envdyno.agent.memory_need.
    factory.memory_need = memory_need  # type: ignore[attr-defined]
    factory.__name__ = factory.__qualname__ = f"{algorithm.name}_{task}_{engine}"
    factory.__doc__ = f"The {algorithm.name} collector around {task} on {engine}."
    return factory


flashsac_go2_joystick_flat_mujoco = _case(FLASHSAC, "go2_joystick_flat", "mujoco")
flashsac_g1_walk_flat_mujoco = _case(FLASHSAC, "g1_walk_flat", "mujoco")
flashsac_g1_walk_flat_motrix = _case(FLASHSAC, "g1_walk_flat", "motrix")
flashsac_g1_motion_tracking_mujoco = _case(FLASHSAC, "g1_motion_tracking", "mujoco")
flashsac_g1_motion_tracking_motrix = _case(FLASHSAC, "g1_motion_tracking", "motrix")
sac_go2_joystick_flat_mujoco = _case(SAC, "go2_joystick_flat", "mujoco")
sac_g1_walk_flat_mujoco = _case(SAC, "g1_walk_flat", "mujoco")
sac_g1_walk_flat_motrix = _case(SAC, "g1_walk_flat", "motrix")
sac_g1_motion_tracking_mujoco = _case(SAC, "g1_motion_tracking", "mujoco")
sac_g1_motion_tracking_motrix = _case(SAC, "g1_motion_tracking", "motrix")
