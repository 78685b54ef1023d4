"""Gymnasium: any registered environment as a vector, or any factory of a ``VectorEnv``.

``gymnasium:ID`` is what ``gymnasium.make_vec`` makes of an id; ``gymnasium:module:ID`` imports a module
first, as in Gymnasium itself, and ``gymnasium:module:factory`` calls a factory of the user's that returns a
``VectorEnv``. Counting follows the vector's autoreset mode
(https://farama.org/Vector-Autoreset-Mode): with next-step autoreset, the rows that ended in a step only
reset in the following one; with autoreset disabled, the rows that ended are reset here, inside the vector
step, as the phase ``reset_done``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.array_rows import ArrayRows
from envdyno.agent.workloads.contract import Autoreset, BuildContext, Tally, WorkloadSpec, WorkTotals
from envdyno.agent.workloads.ended_reset import EndedReset
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.gymnasium_count import watch_vector
from envdyno.agent.workloads.gymnasium_spaces import SpaceActions
from envdyno.agent.workloads.gymnasium_vectors import (
    call_factory_of,
    every_one_has,
    factory_of,
    make_vec,
    own_part,
    told_by,
    vector_options,
)
from envdyno.agent.workloads.registry import WorkloadError, seed_notes
from envdyno.agent.workloads.vector_env import assumed_autoreset, vector_env_spec

FRAMEWORK = Framework.of("gymnasium", "gymnasium")


class GymnasiumWorkload:
    """A ``VectorEnv`` that is counted by its autoreset mode."""

    def __init__(self, env: Any, spec: WorkloadSpec, seed: int, notes: tuple[str, ...] = ()) -> None:
        """Step ``env``, which resets by ``spec.autoreset``, or as Gymnasium has it where that is not told."""
        self.spec = spec
        self.check_notes = notes
        self.vector = env
        assumed, assumption = assumed_autoreset(env)
        self.counting_assumption = assumption if spec.autoreset is None else None
        autoreset = spec.autoreset or assumed
        self._env = env
        self._seed = seed
        self._rows = ArrayRows(spec.num_envs, autoreset)
        self._observation: Any = None
        self._reset_ended = EndedReset(env) if autoreset is Autoreset.DISABLED else None
        self._env_step = phase("env_step")
        self.make_actions = own_part(env, "make_actions")
        if spec.action is None and self.make_actions is None:
            self.make_actions = SpaceActions(env.single_action_space, env.action_space, spec.num_envs)
        self.count_inside = own_part(env, "count_inside")
        if self.count_inside is None and every_one_has(env, "transitions_inside"):
            self.count_inside = lambda: sum(env.call("transitions_inside"))
        self.synchronize, self.phases, self.contacts_now = (
            own_part(env, name) for name in ("synchronize", "phases", "contacts_now")
        )
        self._own_work = own_part(env, "work")

    def reset(self) -> None:
        """Bring every environment to the start state that the seed gives."""
        self._observation, _ = self._env.reset(seed=self._seed)
        self._rows.restart()

    def step(self, actions: Any) -> Tally:
        """Take one vector step; reset rows that ended where Gymnasium does not."""
        with self._env_step:
            self._observation, rewards, terminated, truncated, _ = self._env.step(actions)
            tally = self._rows.count(rewards, terminated, truncated)
            if self._reset_ended is not None and tally.episodes:
                self._observation = self._reset_ended(self._rows.ended.copy())
        return tally

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._observation

    def work(self) -> WorkTotals:
        """Return running totals, with those that the vector itself tells."""
        totals = WorkTotals(episode_steps=self._rows.episode_steps)
        if self._own_work is not None:
            totals.update(self._own_work())
        return totals

    def close(self) -> None:
        """Close the environments, and end their processes."""
        self._env.close()


def import_framework(**_options: object) -> None:
    """Import Gymnasium."""
    FRAMEWORK.load()


def build(
    num_envs: int,
    seed: int,
    target: str,
    context: BuildContext,
    *,
    vectorization_mode: str | None = None,
    autoreset_mode: str | None = None,
    shared_memory: bool | None = None,
    start_method: str | None = None,
    max_concurrency: int | None = None,
    **environment: Any,
) -> Any:
    """Build a vector of environments.

    Args:
        num_envs: environments in the vector.
        seed: of the environments; row k gets the seed plus k, by Gymnasium's rule.
        target: ``ID``, ``module:ID`` or ``module:factory``.
        context: tells whether an independent count is wanted.
        vectorization_mode: sync, async or vector_entry_point; Gymnasium's own choice when not given.
        autoreset_mode: next_step, same_step or disabled; Gymnasium's own choice when not given.
        shared_memory: whether an asynchronous vector hands observations over in shared memory.
        start_method: fork, spawn or forkserver, for an asynchronous vector.
        max_concurrency: environments of an asynchronous vector that may run at once (Gymnasium 1.4).
        environment: goes to the environment's constructor, or to the user's factory.

    Raises:
        WorkloadError: there is no such environment, or it has no such option.
    """
    gymnasium = FRAMEWORK.load()
    made_by = factory_of(gymnasium, target)
    vector = vector_options(
        gymnasium,
        autoreset_mode=autoreset_mode,
        shared_memory=shared_memory,
        start_method=start_method,
        max_concurrency=max_concurrency,
    )
    notes: tuple[str, ...] = ()
    if made_by is None:
        env = make_vec(
            gymnasium, target, num_envs, vectorization_mode, vector, environment, check=context.check
        )
    elif vector or vectorization_mode:
        raise WorkloadError(f"{target} makes its vector itself, so that how it resets is not set from here.")
    else:
        env = call_factory_of(made_by, target, num_envs, seed, environment, context)
        notes = seed_notes(made_by)
        if context.check:
            watch_vector(env)
    if isinstance(getattr(env, "spec", None), WorkloadSpec):
        return env
    return _counted(env, target, num_envs, seed, notes)


def _counted(env: Any, target: str, num_envs: int, seed: int, notes: tuple[str, ...]) -> GymnasiumWorkload:
    """Return the workload around a vector."""
    spec = vector_env_spec(env, num_envs)
    if spec.num_envs != num_envs:
        raise WorkloadError(f"{target} was asked for {num_envs} environments and built {spec.num_envs}.")
    return GymnasiumWorkload(env, replace(spec, **told_by(env, target)), seed, notes)
