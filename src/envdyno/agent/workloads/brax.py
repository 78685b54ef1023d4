"""Brax and MuJoCo Playground: environments that are compiled by JAX.

The step is compiled together with its counts, so that counting costs no dispatch of its own. JAX returns
before the work is done; to keep steps from piling up in its queue, each step waits for the one before the
last. At the edges of a window everything is waited for. Rows reset in the step that ends them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import ArraySpec, Autoreset, Tally, WorkloadSpec, WorkTotals
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.options import whole
from envdyno.agent.workloads.registry import WorkloadError

BRAX = Framework("brax", "brax", "brax", install="pip install 'brax>=0.12'", at_least="0.12")
PLAYGROUND = Framework(
    "playground", "mujoco_playground", "playground", install="pip install 'playground>=0.0.5'"
)
IN_FLIGHT = 2
"""Steps that may be under way at once."""


class JaxWorkload:
    """A batch of environments behind one compiled step."""

    def __init__(self, env: Any, spec: WorkloadSpec, start: Callable[[], Any]) -> None:
        """Step ``env``; ``start`` makes a start state of all rows."""
        self.spec = spec
        self._jax = BRAX.load("jax")
        self._start = start
        self._state: Any = None
        self._earlier_steps = 0
        self._clock, self._last_end = self._unended()
        self._waiting: list[Any] = []
        self._env_step = phase("env_step")
        where = self._jax.numpy.where

        def counted(state: Any, clock: Any, last_end: Any, actions: Any) -> Any:
            after = env.step(state, actions)
            ended, clock = after.done > 0.5, clock + 1
            return after, clock, where(ended, clock, last_end), ended.sum(), after.reward.sum()

        self._compiled = self._jax.jit(counted)

    def _unended(self) -> tuple[Any, Any]:
        """Return the steps since the start, and those at the last end of each row; both on the device."""
        numpy = self._jax.numpy
        return numpy.zeros((), numpy.int32), numpy.zeros(self.spec.num_envs, numpy.int32)

    def reset(self) -> None:
        """Bring every row to a start state."""
        self._earlier_steps = self._episode_steps()
        self._clock, self._last_end = self._unended()
        self._state = self._start()

    def step(self, actions: Any) -> Tally:
        """Step all rows; the counts are read after the window."""
        with self._env_step:
            self._state, self._clock, self._last_end, episodes, reward = self._compiled(
                self._state, self._clock, self._last_end, actions
            )
            self._waiting.append(reward)
            if len(self._waiting) > IN_FLIGHT:
                self._jax.block_until_ready(self._waiting.pop(0))
        return Tally(self.spec.num_envs, 0, episodes, None, reward)

    def make_actions(self, *, source: str, seed: int, batches: int) -> list[Any]:
        """Return the ring as arrays on the device."""
        from envdyno.agent.measure.actions import ActionSource, action_ring

        ring = action_ring(self.spec.action, self.spec.num_envs, ActionSource(source), seed)
        return [self._jax.device_put(batch) for batch in ring[:batches]]

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._state.obs

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(episode_steps=self._episode_steps())

    def _episode_steps(self) -> int:
        """Return the transitions in the episodes that have ended; waits for the device.

        From the start to the last end of a row, every step was one. They are added up here, for JAX counts in
        32 bit.
        """
        import numpy as np

        return self._earlier_steps + int(np.asarray(self._last_end).sum(dtype=np.int64))

    def synchronize(self) -> None:
        """Wait until the latest state is there."""
        self._jax.block_until_ready(self._state)
        self._waiting.clear()


def import_framework(**_options: object) -> None:
    """Import JAX, which both families need."""
    BRAX.load("jax")


def build(
    num_envs: int, seed: int, target: str, *, backend: str = "generalized", episode_length: int = 1000
) -> JaxWorkload:
    """Build a Brax environment.

    Args:
        num_envs: rows.
        seed: of the start states.
        target: name of an environment, as ``ant``.
        backend: generalized, positional, spring or mjx.
        episode_length: steps after which an episode is cut.

    Raises:
        WorkloadError: there is no such environment.
    """
    envs, jax = BRAX.load("brax.envs"), BRAX.load("jax")
    limit = whole("brax", "episode_length", episode_length)
    known = getattr(envs, "_envs", None)
    if known is not None and target not in known:
        raise WorkloadError(f"Brax has no environment {target!r}; it has: {', '.join(sorted(known))}.")
    env = envs.create(target, backend=backend, batch_size=num_envs, episode_length=limit, auto_reset=True)
    inner = env.unwrapped
    spec = _spec(
        num_envs,
        env.action_size,
        {"obs": int(env.observation_size)},
        substeps=getattr(inner, "_n_frames", None),
        step_dt_s=_step_dt_s(inner),
        limit=limit,
        details={"name": target, "backend": backend, "device": jax.default_backend()},
        modules=("brax", "jax", "jaxlib"),
    )
    reset = jax.jit(env.reset)
    return JaxWorkload(env, spec, lambda: reset(jax.random.PRNGKey(seed)))


def _step_dt_s(env: Any) -> float | None:
    """Return the simulated time of a step; environments without physics have none."""
    try:
        return float(env.dt)
    except AttributeError:
        return None


def build_playground(
    num_envs: int, seed: int, target: str, *, episode_length: int | None = None
) -> JaxWorkload:
    """Build an environment of MuJoCo Playground.

    Args:
        num_envs: rows.
        seed: of the start states.
        target: name of an environment, as ``CheetahRun``.
        episode_length: steps after which an episode is cut; the environment's own when not given.

    Raises:
        WorkloadError: there is no such environment, or its robots cannot be fetched.
    """
    registry, jax = PLAYGROUND.load("mujoco_playground.registry"), PLAYGROUND.load("jax")
    if target not in registry.ALL_ENVS:
        raise WorkloadError(
            f"MuJoCo Playground has no environment {target!r}; it has: {', '.join(registry.ALL_ENVS)}."
        )
    config = registry.get_default_config(target)
    limit = int(config.episode_length if episode_length is None else episode_length)
    try:
        inner = registry.load(target)
    except Exception as error:
        raise WorkloadError(
            f"MuJoCo Playground cannot load {target}: {error}. Its robots are fetched from the network when "
            "they are first used; its dm_control tasks (CheetahRun, ...) need none."
        ) from error
    env = PLAYGROUND.load("mujoco_playground.wrapper").wrap_for_brax_training(
        inner, episode_length=limit, action_repeat=1
    )
    sizes = inner.observation_size
    groups = sizes if isinstance(sizes, dict) else {"obs": sizes}
    spec = _spec(
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
    return JaxWorkload(env, spec, lambda: reset(keys))


def _spec(
    num_envs: int,
    action_size: int,
    observation: dict[str, int],
    *,
    substeps: int | None,
    step_dt_s: float | None,
    limit: int,
    details: dict[str, Any],
    modules: tuple[str, ...],
) -> WorkloadSpec:
    return WorkloadSpec(
        num_envs=num_envs,
        action=ArraySpec((int(action_size),), "float32", -1.0, 1.0),
        observation={name: ArraySpec((size,)) for name, size in observation.items()},
        autoreset=Autoreset.SAME_STEP,
        substeps=substeps,
        step_dt_s=step_dt_s,
        episode_limit_steps=limit,
        details=details,
        modules_under_test=modules,
    )
