"""MuJoCo Playground: environments on MJX that are compiled by JAX, with Playground's training wrappers."""

from __future__ import annotations

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.jax_batch import JaxWorkload, jax_spec
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.options import whole
from envdyno.agent.workloads.registry import WorkloadError

FRAMEWORK = Framework.of("playground", "mujoco_playground")


def import_framework(**_options: object) -> None:
    """Import JAX and Playground."""
    FRAMEWORK.load("jax")
    FRAMEWORK.load()


def build(
    num_envs: int, seed: int, target: str, context: BuildContext, *, episode_length: int | None = None
) -> JaxWorkload:
    """Build an environment of MuJoCo Playground.

    Args:
        num_envs: rows.
        seed: of the start states.
        target: name of an environment, as ``CheetahRun``.
        context: tells whether an independent count is wanted.
        episode_length: steps after which an episode is cut; the environment's own when not given.

    Raises:
        WorkloadError: there is no such environment, or its robots cannot be fetched.
    """
    jax, playground = FRAMEWORK.load("jax"), FRAMEWORK.load()
    registry = playground.registry
    if target not in registry.ALL_ENVS:
        raise WorkloadError(
            f"MuJoCo Playground has no environment {target!r}.{did_you_mean(target, registry.ALL_ENVS)} It "
            f"has: {', '.join(registry.ALL_ENVS)}."
        )
    config = registry.get_default_config(target)
    own = episode_length is None
    limit = whole("playground", "episode_length", config.episode_length if own else episode_length)
    try:
        inner = registry.load(target)
    except Exception as error:
        raise WorkloadError(
            f"MuJoCo Playground cannot load {target}: {error}. Its robots are fetched from the network when "
            "they are first used; its dm_control tasks (CheetahRun, ...) need none."
        ) from error
    env = playground.wrapper.wrap_for_brax_training(inner, episode_length=limit, action_repeat=1)
    sizes = inner.observation_size
    groups = sizes if isinstance(sizes, dict) else {"obs": sizes}
    spec = jax_spec(
        num_envs,
        inner.action_size,
        {name: size if isinstance(size, int) else int(size[0]) for name, size in groups.items()},
        substeps=int(inner.n_substeps),
        step_dt_s=float(inner.dt),
        limit=limit,
        details={"name": target, "device": jax.default_backend()},
        modules=("mujoco_playground", "mujoco"),
    )
    reset, keys = jax.jit(env.reset), jax.random.split(jax.random.PRNGKey(seed), num_envs)
    workload = JaxWorkload(jax, env, spec, lambda: reset(keys))
    if context.check:
        workload.watch_episodes()
    return workload
