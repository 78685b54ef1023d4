"""Brax: environments that are compiled by JAX, with Brax's own wrappers around them."""

from __future__ import annotations

from enum import Enum
from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.jax_batch import JaxWorkload, jax_spec
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.options import choice, refusing_values, whole
from envdyno.agent.workloads.registry import WorkloadError

FRAMEWORK = Framework.of("brax", "brax")


class Backend(str, Enum):
    """Brax's physics pipelines (``brax.envs.base.PipelineEnv``)."""

    GENERALIZED = "generalized"
    POSITIONAL = "positional"
    SPRING = "spring"
    MJX = "mjx"


def import_framework(**_options: object) -> None:
    """Import Brax and JAX."""
    FRAMEWORK.load("jax")
    FRAMEWORK.load("brax.envs")


def build(
    num_envs: int,
    seed: int,
    target: str,
    context: BuildContext,
    *,
    backend: str = "generalized",
    episode_length: int = 1000,
) -> JaxWorkload:
    """Build a Brax environment.

    Args:
        num_envs: rows.
        seed: of the start states.
        target: name of an environment, as ``ant``.
        context: tells whether an independent count is wanted.
        backend: generalized, positional, spring or mjx.
        episode_length: steps after which an episode is cut.

    Raises:
        WorkloadError: there is no such environment.
    """
    envs, jax = FRAMEWORK.load("brax.envs"), FRAMEWORK.load("jax")
    limit = whole("brax", "episode_length", episode_length)
    pipeline = choice("brax", "backend", backend, Backend).value
    known = getattr(envs, "_envs", None)
    if known is not None and target not in known:
        raise WorkloadError(
            f"Brax has no environment {target!r}.{did_you_mean(target, known)} It has: "
            f"{', '.join(sorted(known))}."
        )
    with refusing_values(f"brax:{target}", {"backend": pipeline}):
        env = envs.create(
            target, backend=pipeline, batch_size=num_envs, episode_length=limit, auto_reset=True
        )
    inner = env.unwrapped
    spec = jax_spec(
        num_envs,
        env.action_size,
        {"obs": int(env.observation_size)},
        substeps=getattr(inner, "_n_frames", None),
        step_dt_s=_step_dt_s(inner),
        limit=limit,
        details={"name": target, "backend": pipeline, "device": jax.default_backend()},
        modules=("brax", "jax", "jaxlib"),
    )
    reset = jax.jit(env.reset)
    workload = JaxWorkload(jax, env, spec, lambda: reset(jax.random.PRNGKey(seed)))
    if context.check:
        workload.watch_episodes()
    return workload


def _step_dt_s(env: Any) -> float | None:
    """Return the simulated time of a step; environments without physics have none."""
    try:
        return float(env.dt)
    except AttributeError:
        return None
