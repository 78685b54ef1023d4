"""PufferLib: Gymnasium environments in its vectorisation, one after the other or in processes.

An environment whose episode has ended is reset by the next call, and does nothing else there
(``pufferlib/vector.py``): a reset row, as with Gymnasium's next-step autoreset. Environments of PufferLib's
own that are written in C reset inside a step, and are not covered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.array_rows import ArrayRows
from envdyno.agent.workloads.contract import (
    ArraySpec,
    Autoreset,
    BuildContext,
    Tally,
    WorkloadSpec,
    WorkTotals,
)
from envdyno.agent.workloads.framework import Framework, import_user_module
from envdyno.agent.workloads.gymnasium_count import counting_wrapper
from envdyno.agent.workloads.gymnasium_ids import registered_id
from envdyno.agent.workloads.options import choice, refusing_values, whole
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.vector_env import space_spec

FRAMEWORK = Framework.of("pufferlib", "pufferlib")


class Backend(str, Enum):
    """How environments become a batch."""

    SERIAL = "serial"
    MULTIPROCESSING = "multiprocessing"


@dataclass(frozen=True)
class EmulatedEnv:
    """Makes one environment, also in another process."""

    module: str | None
    name: str
    options: dict[str, Any]
    inside: list[Any] | None = None
    """Where environments that count inside themselves are noted, if they are wanted."""

    def __call__(self, buf: Any = None, seed: int = 0) -> Any:
        """Return the environment as PufferLib steps it."""
        if self.module is not None:
            import_user_module("pufferlib", self.module)
        gymnasium = FRAMEWORK.load("gymnasium")
        env = gymnasium.make(self.name, **self.options)
        if self.inside is not None:
            env = counting_wrapper(gymnasium)(env)
            self.inside.append(env)
        return FRAMEWORK.load("pufferlib.emulation").GymnasiumPufferEnv(env=env, buf=buf, seed=seed)


class PufferWorkload:
    """A vector of emulated environments, stepped by ``send`` and ``recv``."""

    def __init__(self, vector: Any, spec: WorkloadSpec, seed: int) -> None:
        """Step ``vector``."""
        self.spec = spec
        self._vector, self._seed = vector, seed
        self._rows = ArrayRows(spec.num_envs, Autoreset.NEXT_STEP)
        self._observation: Any = None
        self._env_step = phase("env_step")
        self.count_inside: Callable[[], int] | None = None

    def reset(self) -> None:
        """Bring every row to a start state."""
        self._vector.async_reset(self._seed)
        self._observation = self._vector.recv()[0]
        self._rows.restart()

    def step(self, actions: Any) -> Tally:
        """Step all rows; those that ended before only reset."""
        with self._env_step:
            self._vector.send(actions)
            self._observation, rewards, terminated, truncated = self._vector.recv()[:4]
        return self._rows.count(rewards, terminated, truncated)

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._observation

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(episode_steps=self._rows.episode_steps)

    def close(self) -> None:
        """Close the environments, and end their processes."""
        self._vector.close()


def import_framework(**_options: object) -> None:
    """Import PufferLib's vectorisation."""
    FRAMEWORK.load("pufferlib.vector")


def build(
    num_envs: int,
    seed: int,
    target: str,
    context: BuildContext,
    *,
    backend: str = "serial",
    num_workers: int | None = None,
    **environment: Any,
) -> PufferWorkload:
    """Build a vector of Gymnasium environments.

    Args:
        num_envs: environments.
        seed: of the environments.
        target: a Gymnasium id, or ``module:id`` to import the module that registers it first.
        context: tells whether an independent count is wanted.
        backend: serial or multiprocessing.
        num_workers: processes; it has to divide ``num_envs``.
        environment: goes to ``gymnasium.make``.

    Raises:
        WorkloadError: there is no such environment, or the workers do not divide it.
    """
    vector = FRAMEWORK.load("pufferlib.vector")
    gymnasium = FRAMEWORK.load("gymnasium")
    lack = "Gymnasium, which PufferLib steps here, has no environment"
    module, name = registered_id("pufferlib", target, gymnasium, lack=lack)
    how = choice("pufferlib", "backend", backend, Backend)
    settings: dict[str, Any] = {}
    if how is Backend.MULTIPROCESSING:
        workers = whole("pufferlib", "num_workers", num_workers or num_envs)
        if num_envs % workers:
            raise WorkloadError(
                f"pufferlib was given num_workers={workers}, which does not divide {num_envs} environments."
            )
        settings = {"num_workers": workers, "batch_size": num_envs}

    kind = vector.Serial if how is Backend.SERIAL else vector.Multiprocessing
    # In a process of its own an environment's count cannot be read.
    inside: list[Any] | None = [] if context.check and how is Backend.SERIAL else None
    emulated = EmulatedEnv(module, name, environment, inside)
    with refusing_values(f"pufferlib:{target}", environment):
        made = vector.make(emulated, num_envs=num_envs, backend=kind, seed=seed, **settings)
    shape = made.single_observation_space.shape
    spec = WorkloadSpec(
        num_envs=num_envs,
        action=space_spec(made.single_action_space),
        observation={"obs": ArraySpec(tuple(shape), str(made.single_observation_space.dtype))},
        autoreset=Autoreset.NEXT_STEP,
        episode_limit_steps=gymnasium.spec(name).max_episode_steps,
        details={"id": name, "backend": how.value, "processes": settings.get("num_workers", 0)},
        modules_under_test=("pufferlib", "gymnasium"),
    )
    workload = PufferWorkload(made, spec, seed)
    if inside is not None:
        workload.count_inside = lambda: sum(one.transitions_inside() for one in inside)
    return workload
