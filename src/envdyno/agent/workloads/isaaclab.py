"""Isaac Lab: its registered tasks, direct and manager-based, on a GPU.

Written against the interface of version 2.3 (``AppLauncher``, ``parse_env_cfg``, ``gym.make(task, cfg=...)``)
and tested with a stand-in of it; not run on the real thing. The simulator is started without a window. It is
never closed by hand, for that ends the process before it has reported.
"""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import Autoreset, WorkloadSpec
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.gymnasium_ids import registered_id
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.options import refusing_values
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.torch_vector import TorchVectorWorkload, tensor_specs
from envdyno.agent.workloads.vector_env import space_spec

FRAMEWORK = Framework.of("isaaclab", "isaaclab")


def import_framework(device: str = "cuda:0", **_options: object) -> None:
    """Start the simulator, which has to come before any other import of Isaac Lab's."""
    FRAMEWORK.load("isaaclab")
    # Its wheel has no such module: it only puts the class where this statement finds it.
    from isaaclab.app import AppLauncher  # type: ignore[import-not-found]

    AppLauncher(headless=True, device=device)
    FRAMEWORK.load("isaaclab_tasks")


def build(
    num_envs: int, seed: int, target: str, *, device: str = "cuda:0", **config: Any
) -> TorchVectorWorkload:
    """Build a task.

    Args:
        num_envs: rows.
        seed: of the task.
        target: id of a task, or ``module:id`` to import the module that registers it first.
        device: where it is simulated.
        config: attributes of the task's configuration.

    Raises:
        WorkloadError: there is no such task, or its configuration has no such attribute.
    """
    gymnasium = FRAMEWORK.load("gymnasium")
    own = "A task of your own is given as isaaclab:MODULE:{name}, with the module that registers it."
    _, name = registered_id("isaaclab", target, gymnasium, lack="Isaac Lab has no task", hint=own)
    cfg = FRAMEWORK.load("isaaclab_tasks.utils").parse_env_cfg(name, device=device, num_envs=num_envs)
    cfg.seed = seed
    for key, value in config.items():
        if not hasattr(cfg, key):
            raise WorkloadError(
                f"The configuration of {name} has no attribute {key!r}.{did_you_mean(key, dir(cfg))}"
            )
        setattr(cfg, key, value)
    with refusing_values(f"isaaclab:{target}", config):
        env = gymnasium.make(name, cfg=cfg)
    plain = env.unwrapped
    first = env.reset(seed=seed)[0]
    spec = WorkloadSpec(
        num_envs=int(plain.num_envs),
        action=space_spec(plain.single_action_space),
        observation=tensor_specs(first),
        autoreset=Autoreset.SAME_STEP,
        substeps=int(cfg.decimation),
        step_dt_s=float(cfg.decimation * cfg.sim.dt),
        episode_limit_steps=int(plain.max_episode_length),
        details={"id": name, "device": str(plain.device)},
        modules_under_test=("isaaclab", "isaaclab_tasks"),
    )
    return TorchVectorWorkload(
        env, spec, str(plain.device), lambda: env.reset(seed=seed)[0], FRAMEWORK.load("torch")
    )
