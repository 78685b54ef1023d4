"""EnvPool: environments on its C++ thread pool, synchronous or asynchronous.

An environment whose episode has ended is reset by the next call that reaches it, and does nothing else
there (``envpool/core/env.h``): a reset row, as with Gymnasium's next-step autoreset. The ``env_id`` tells
which environment a row belongs to. Such a row usually comes back with ``elapsed_step`` 0, or the
``step_type`` FIRST; but not always, for Atari goes on counting where only a life was lost.

With ``batch_size`` below the number of environments the pool is asynchronous: a vector step sends actions for
the rows of the batch before, and receives the next ``batch_size`` rows that are done. Environments whose
steps are short then come back more often, so that a throughput favours short steps.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import (
    ArraySpec,
    Autoreset,
    BuildContext,
    Tally,
    WorkloadSpec,
    WorkTotals,
)
from envdyno.agent.workloads.envpool_options import check_task_options
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.gymnasium_spaces import SpaceActions
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.options import choice, refusing_values, whole
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.vector_env import space_spec

FRAMEWORK = Framework.of("envpool", "envpool")
LAST = 2
"""``dm_env.StepType`` of a row whose episode ended."""


class Interface(str, Enum):
    """What a pool returns."""

    GYMNASIUM = "gymnasium"
    GYM = "gym"
    DM = "dm"


class EnvPoolWorkload:
    """A pool with Gymnasium's interface, counted row by row."""

    def __init__(self, pool: Any, spec: WorkloadSpec, batch_size: int) -> None:
        """Step ``pool``; a batch has ``batch_size`` rows."""
        import numpy as np

        self._np = np
        self.spec = spec
        self._pool = pool
        self._batch_size = batch_size
        self._env_id: Any = None
        self._observation: Any = None
        self._over = np.ones(spec.num_envs, bool)
        # Atari's elapsed_step goes on where only a life was lost, and dm_env's interface has none.
        self._ages = None if self._tells_ages(pool) else np.zeros(spec.num_envs, np.int64)
        self._ended_steps = 0
        self._moved_rows = 0
        self.count_inside: Any = None
        self._env_step = phase("env_step")
        self.make_actions = None
        if spec.action is None:
            self.make_actions = SpaceActions(pool.spec.gymnasium_action_space, None, batch_size)

    @staticmethod
    def _tells_ages(pool: Any) -> bool:
        """Return whether ``elapsed_step`` is the number of transitions in an episode."""
        return not pool.config.get("episodic_life", False)

    def reset(self) -> None:
        """Begin an episode in every environment; receive the first batch."""
        self._over[:] = True
        self._pool.async_reset()
        self._take(self._pool.recv())

    def step(self, actions: Any) -> Tally:
        """Send actions to the rows of the last batch, and receive the next one."""
        with self._env_step:
            self._pool.send(_rows(actions, self._batch_size), self._env_id)
            return self._take(self._pool.recv())

    def _take(self, received: Any) -> Tally:
        self._observation, rewards, terminated, truncated, info = received
        self._env_id = info["env_id"]
        if self.count_inside is not None:
            self._moved_rows += int(self._np.count_nonzero(info["elapsed_step"]))
        ended = self._np.logical_or(terminated, truncated)
        tally = self._count(ended, rewards)
        if tally.episodes and self._ages is None:
            self._ended_steps += int(info["elapsed_step"][ended].sum())
        return tally

    def watch_elapsed_steps(self) -> None:
        """Count, besides, the rows whose episode has made a step by EnvPool's own account."""
        self.count_inside = lambda: self._moved_rows

    def _count(self, ended: Any, rewards: Any) -> Tally:
        np, over, env_id = self._np, self._over, self._env_id
        resetting = over[env_id]
        reset_rows = int(np.count_nonzero(resetting))
        over[env_id] = ended
        if self._ages is not None:
            ages = self._ages[env_id] + 1
            ages[resetting] = 0
            self._ages[env_id] = ages
            self._ended_steps += int(ages[ended].sum())
        episodes, reward = int(np.count_nonzero(ended)), float(np.add.reduce(rewards))
        return Tally(self._batch_size - reset_rows, reset_rows, episodes, None, reward)

    def observation(self) -> Any:
        """Return the latest batch of observations."""
        return self._observation

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(episode_steps=self._ended_steps)

    def close(self) -> None:
        """Drop the pool, which ends its threads."""
        self._pool.close()
        self._pool = None


class DmEnvPoolWorkload(EnvPoolWorkload):
    """A pool with dm_env's interface, which does not tell how long episodes have been."""

    @staticmethod
    def _tells_ages(pool: Any) -> bool:  # noqa: ARG004 - alike for every pool
        return False

    def _take(self, received: Any) -> Tally:
        fields = received.observation._asdict()
        self._env_id = fields.pop("env_id")
        fields.pop("players", None)
        self._observation = _plain(fields)
        return self._count(received.step_type == LAST, received.reward)


def _rows(actions: Any, count: int) -> Any:
    return actions if isinstance(actions, dict) else actions[:count]


def _plain(fields: Any) -> Any:
    """Return named tuples as mappings, down to the arrays."""
    nested = fields._asdict() if hasattr(fields, "_asdict") else fields
    return {key: _plain(part) for key, part in nested.items()} if isinstance(nested, dict) else nested


def import_framework(**_options: object) -> None:
    """Import EnvPool."""
    FRAMEWORK.load()


def build(
    num_envs: int,
    seed: int,
    target: str,
    context: BuildContext,
    *,
    env_type: str = "gymnasium",
    batch_size: int | None = None,
    num_threads: int | None = None,
    **task: Any,
) -> EnvPoolWorkload:
    """Build a pool.

    Args:
        num_envs: environments in the pool.
        seed: of the pool.
        target: an id of EnvPool's, as ``envpool.list_all_envs()`` shows them.
        context: tells the threads.
        env_type: gymnasium, gym or dm.
        batch_size: rows of a vector step; fewer than ``num_envs`` makes the pool asynchronous.
        num_threads: size of the pool; the placement's when not given.
        task: goes to ``envpool.make``.

    Raises:
        WorkloadError: there is no such task, or it has no such option.
    """
    envpool = FRAMEWORK.load()
    interface = choice("envpool", "env_type", env_type, Interface)
    rows = num_envs if batch_size is None else whole("envpool", "batch_size", batch_size)
    if rows > num_envs:
        raise WorkloadError(
            f"envpool was given batch_size={rows} for {num_envs} environments of this worker; a batch has "
            "at most as many rows as there are environments."
        )
    threads = context.threads if num_threads is None else whole("envpool", "num_threads", num_threads)
    if target not in (known := envpool.list_all_envs()):
        raise WorkloadError(
            f"EnvPool {envpool.__version__} has no task {target!r}.{did_you_mean(target, known)} Those that "
            f"it has are shown by: {shlex.quote(sys.executable)} -c 'import envpool; "
            "print(envpool.list_all_envs())'"
        )
    arguments = {"num_envs": num_envs, "batch_size": rows, "num_threads": threads, "seed": seed, **task}
    check_task_options(envpool, target, task)
    with refusing_values(f"envpool:{target}", task):
        pool = envpool.make(target, env_type=interface.value, **arguments)
    if pool.config.get("max_num_players", 1) != 1:
        raise WorkloadError(
            f"{target} has {pool.config['max_num_players']} players in an environment; what is a transition "
            "is not defined for it."
        )
    kind = DmEnvPoolWorkload if interface is Interface.DM else EnvPoolWorkload
    workload = kind(pool, _spec(pool, target, interface, num_envs, rows, threads), rows)
    if context.check and kind is EnvPoolWorkload and not pool.config.get("episodic_life", False):
        workload.watch_elapsed_steps()
    return workload


def _spec(
    pool: Any, target: str, interface: Interface, num_envs: int, rows: int, threads: int
) -> WorkloadSpec:
    config = pool.config
    substeps, step_dt_s = _step_times(config)
    return WorkloadSpec(
        num_envs=num_envs,
        action=space_spec(pool.spec.gymnasium_action_space),
        observation=_observations(pool.spec.gymnasium_observation_space),
        autoreset=Autoreset.NEXT_STEP,
        substeps=substeps,
        step_dt_s=step_dt_s,
        episode_limit_steps=config.get("max_episode_steps"),
        threads=threads,
        details={
            "id": target,
            "interface": interface.value,
            "batch_size": rows,
            "thread_affinity_offset": config.get("thread_affinity_offset"),
        },
        modules_under_test=("envpool",),
    )


def _step_times(config: Mapping[str, Any]) -> tuple[int | None, float | None]:
    """Return the physics steps of a transition and its simulated time, where the task tells them."""
    if "ctrl_dt" in config and config.get("sim_dt"):
        return round(config["ctrl_dt"] / config["sim_dt"]), float(config["ctrl_dt"])
    return config.get("frame_skip"), None


def _observations(space: Any, name: str = "obs") -> dict[str, ArraySpec]:
    """Return the plain arrays of an observation space, by dotted names."""
    parts = getattr(space, "spaces", None)
    if isinstance(parts, dict):
        found: dict[str, ArraySpec] = {}
        for key, part in parts.items():
            found |= _observations(part, f"{name}.{key}")
        return found
    spec = space_spec(space)
    return {} if spec is None else {name: spec}
