"""ManiSkill: its tasks on the GPU simulation, or on one CPU environment.

``gym.make(id, num_envs=...)`` inside ``ManiSkillVectorEnv``, which resets in the same step. Run on the real
package with its one CPU environment, and with a stand-in of the same interface as a batch; batches need a
GPU and were not run.
"""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import Autoreset, WorkloadSpec
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.gymnasium_ids import registered_id
from envdyno.agent.workloads.options import refusing_values
from envdyno.agent.workloads.torch_vector import TorchVectorWorkload, tensor_specs
from envdyno.agent.workloads.vector_env import space_spec

FRAMEWORK = Framework.of("maniskill", "mani_skill")


def import_framework(**_options: object) -> None:
    """Import ManiSkill and register its tasks."""
    FRAMEWORK.load("mani_skill.envs")


def build(
    num_envs: int, seed: int, target: str, *, obs_mode: str = "state", **task: Any
) -> TorchVectorWorkload:
    """Build a task.

    Args:
        num_envs: rows.
        seed: of the task.
        target: id of a task, or ``module:id`` to import the module that registers it first.
        obs_mode: what is observed, ``state`` by default; modes with images render, and the record tells.
        task: goes to ``gymnasium.make``.

    Raises:
        WorkloadError: there is no such task.
    """
    FRAMEWORK.load("mani_skill.envs")
    gymnasium = FRAMEWORK.load("gymnasium")
    _, name = registered_id("maniskill", target, gymnasium, lack="ManiSkill has no task")
    with refusing_values(f"maniskill:{target}", {"obs_mode": obs_mode, **task}):
        inner = gymnasium.make(name, num_envs=num_envs, obs_mode=obs_mode, **task)
    wrappers = FRAMEWORK.load("mani_skill.vector.wrappers.gymnasium")
    env = wrappers.ManiSkillVectorEnv(inner, auto_reset=True, ignore_terminations=False)
    first = env.reset(seed=seed)[0]
    plain = inner.unwrapped
    device = str(getattr(plain, "device", "cpu"))
    spec = WorkloadSpec(
        num_envs=int(env.num_envs),
        action=space_spec(env.single_action_space),
        observation=tensor_specs(first),
        autoreset=Autoreset.SAME_STEP,
        substeps=int(plain.sim_freq // plain.control_freq),
        step_dt_s=1.0 / float(plain.control_freq),
        episode_limit_steps=FRAMEWORK.load("mani_skill.utils.gym_utils").find_max_episode_steps_value(inner),
        details={"id": name, "device": device, "obs_mode": obs_mode},
        modules_under_test=("mani_skill",),
    )
    return TorchVectorWorkload(env, spec, device, lambda: env.reset(seed=seed)[0], FRAMEWORK.load("torch"))
