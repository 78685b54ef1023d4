"""TorchRL: Gymnasium environments as a batch of TensorDicts, one after the other or in processes.

``step_and_maybe_reset`` resets in the call that ended an episode, so that every row of every call is a
transition.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from enum import Enum
from typing import Any

from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import Autoreset, BuildContext, Tally, WorkloadSpec, WorkTotals
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.gymnasium_count import counting_wrapper
from envdyno.agent.workloads.gymnasium_ids import registered_id
from envdyno.agent.workloads.options import choice, refusing_values
from envdyno.agent.workloads.tensor_rows import TensorRows
from envdyno.agent.workloads.torch_vector import tensor_specs

FRAMEWORK = Framework.of("torchrl", "torchrl")
SHOWN = ("observation", "pixels")


class Batching(str, Enum):
    """How environments become a batch."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    """A process for each environment."""


class TorchRLWorkload:
    """A batched environment, stepped by ``step_and_maybe_reset``."""

    def __init__(self, env: Any, spec: WorkloadSpec, first: Any, torch: Any) -> None:
        """Step ``env`` from the TensorDict ``first``."""
        self.spec = spec
        self._env, self._next, self._torch = env, first, torch
        self._rows = TensorRows(spec.num_envs, "cpu", torch)
        self._env_step = phase("env_step")
        self.count_inside: Callable[[], int] | None = None

    def step(self, actions: Any) -> Tally:
        """Step all rows, and reset those that ended."""
        with self._env_step:
            stepped, self._next = self._env.step_and_maybe_reset(self._next.set("action", actions))
        after = stepped["next"]
        return self._rows.count(after["reward"], after["done"].reshape(-1))

    def make_actions(self, *, source: str, seed: int, batches: int) -> list[Any]:
        """Return batches of the environment's own action spec."""
        self._torch.manual_seed(seed)
        spec = self._env.full_action_spec["action"]
        if source == ActionSource.ZERO.value:
            return [spec.zero()]
        return [spec.rand() for _ in range(batches)]

    def observation(self) -> Any:
        """Return the latest observations."""
        return {name: self._next[name] for name in SHOWN if name in self._next.keys()}  # noqa: SIM118

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(episode_steps=self._rows.episode_steps)

    def close(self) -> None:
        """Close the environments, and end their processes."""
        self._env.close()


def import_framework(**_options: object) -> None:
    """Import TorchRL."""
    FRAMEWORK.load("torchrl.envs")


def build(
    num_envs: int,
    seed: int,
    target: str,
    context: BuildContext,
    *,
    batching: str = "serial",
    **environment: Any,
) -> TorchRLWorkload:
    """Build a batch of Gymnasium environments.

    Args:
        num_envs: environments.
        seed: of the environments.
        target: a Gymnasium id, or ``module:id`` to import the module that registers it first.
        context: tells the threads, and whether an independent count is wanted.
        batching: serial or parallel.
        environment: goes to ``GymEnv``.

    Raises:
        WorkloadError: there is no such environment.
    """
    envs, torch = FRAMEWORK.load("torchrl.envs"), FRAMEWORK.load("torch")
    gymnasium = FRAMEWORK.load("gymnasium")
    lack = "Gymnasium, which TorchRL steps here, has no environment"
    module, name = registered_id("torchrl", target, gymnasium, lack=lack)
    how = choice("torchrl", "batching", batching, Batching)
    torch.set_num_threads(context.threads)
    kind = envs.SerialEnv if how is Batching.SERIAL else envs.ParallelEnv

    def make() -> Any:
        if module is not None:  # in a process of its own nobody has imported it
            importlib.import_module(module)
        return envs.GymEnv(name, **environment)

    inside: list[Any] = []
    if context.check and how is Batching.SERIAL:  # in a process of its own a count cannot be read
        make = _counted(make, counting_wrapper(gymnasium), inside)
    with refusing_values(f"torchrl:{target}", environment):
        env = kind(num_envs, make)
        env.set_seed(seed)
        first = env.reset()
    spec = WorkloadSpec(
        num_envs=num_envs,
        observation=tensor_specs({key: first[key] for key in SHOWN if key in first.keys()}),  # noqa: SIM118
        autoreset=Autoreset.SAME_STEP,
        episode_limit_steps=gymnasium.spec(name).max_episode_steps,
        threads=context.threads,
        details={"id": name, "batching": how.value, "processes": num_envs if how is Batching.PARALLEL else 0},
        modules_under_test=("torchrl", "gymnasium"),
    )
    workload = TorchRLWorkload(env, spec, first, torch)
    if inside:
        workload.count_inside = lambda: sum(one.transitions_inside() for one in inside)
    return workload


def _counted(make: Callable[[], Any], counting: Any, inside: list[Any]) -> Callable[[], Any]:
    """Return the factory with a counting wrapper around each Gymnasium environment, noted in ``inside``."""

    def make_counted() -> Any:
        env = make()
        env._env = counting(env._env)
        inside.append(env._env)
        return env

    return make_counted
