"""mjlab: its manager-based tasks, on a GPU or, very slowly, on a CPU.

The first build compiles Warp kernels, for minutes on a CPU; they are kept on disk, and one process compiles
while the others wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.workloads.compile_turn import compile_turn
from envdyno.agent.workloads.contract import ArraySpec, Autoreset, BuildContext, WorkloadSpec
from envdyno.agent.workloads.framework import Framework, import_user_module, split_target
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.torch_vector import TorchVectorWorkload, tensor_specs

FRAMEWORK = Framework.of("mjlab", "mjlab")


class MjlabWorkload(TorchVectorWorkload):
    """A task of mjlab, which can be counted by the clocks of its rows."""

    count_inside: Callable[[], int] | None = None

    def watch_clocks(self) -> None:
        """Count, besides, the rows whose clock has gone on when the environment looks which have ended."""
        env, manager = self._env, self._env.termination_manager
        inner, last, advanced = manager.compute, env.episode_length_buf.clone(), [0]

        def compute() -> Any:
            now = env.episode_length_buf
            advanced[0] += int(((now == last + 1) | (now == 1)).sum())
            last.copy_(now)
            return inner()

        manager.compute = compute
        self.count_inside = lambda: advanced[0]


def import_framework(**_options: object) -> None:
    """Import mjlab and register its tasks."""
    FRAMEWORK.load("mjlab.tasks")


def build(
    num_envs: int,
    seed: int,
    target: str,
    *,
    device: str | None = None,
    context: BuildContext | None = None,
) -> MjlabWorkload:
    """Build a task.

    Args:
        num_envs: rows.
        seed: of the task.
        target: id of a task, or ``module:id`` to import the module that registers it first.
        device: where it is simulated; the first GPU, or the CPU, when not given.
        context: tells whether the workload is checked.

    Raises:
        WorkloadError: there is no such task.
    """
    torch = FRAMEWORK.load("torch")
    FRAMEWORK.load("mjlab.tasks")
    module, name = split_target(target)
    if module is not None:
        import_user_module("mjlab", module)
    registry = FRAMEWORK.load("mjlab.tasks.registry")
    known = registry.list_tasks()
    if name not in known:
        raise WorkloadError(
            f"mjlab has no task {name!r}.{did_you_mean(name, known)} It has: {', '.join(sorted(known))}."
        )
    where = device or ("cuda:0" if torch.cuda.is_available() else "cpu")
    cfg = registry.load_env_cfg(name)
    cfg.scene.num_envs = num_envs
    cfg.seed = seed
    with compile_turn():
        env = FRAMEWORK.load("mjlab.envs").ManagerBasedRlEnv(cfg, device=where)
        first = env.reset()[0]
        env.step(torch.zeros(num_envs, int(env.single_action_space.shape[0]), device=where))
    spec = _spec(env, cfg, name, where, first)
    workload = MjlabWorkload(env, spec, where, lambda: env.reset()[0], torch)
    if context is not None and context.check:
        workload.watch_clocks()
    return workload


def _spec(env: Any, cfg: Any, name: str, device: str, first: Any) -> WorkloadSpec:
    timestep_s = float(cfg.sim.mujoco.timestep)
    return WorkloadSpec(
        num_envs=int(env.num_envs),
        # Actions are offsets from a default pose without bounds of their own.
        action=ArraySpec(tuple(env.single_action_space.shape)),
        observation=tensor_specs(first),
        autoreset=Autoreset.SAME_STEP,
        substeps=int(cfg.decimation),
        step_dt_s=timestep_s * int(cfg.decimation),
        episode_limit_steps=int(env.max_episode_length),
        details={"id": name, "device": device},
        modules_under_test=("mjlab", "mujoco_warp"),
    )
