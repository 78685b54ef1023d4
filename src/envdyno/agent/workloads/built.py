"""A built workload as the measuring loop sees it: the contract's optional parts looked up once.

Three kinds of object are accepted: one that follows the contract; one with Gymnasium's vector interface
(or any ``step`` that returns observations, rewards, terminated, truncated, information); and a bare
callable that takes a batch of actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envdyno.agent.workloads.contract import Autoreset, Tally, WorkloadSpec
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.rows import RowCounter, is_row_result
from envdyno.agent.workloads.vector_env import looks_like_vector_env, vector_env_spec


@dataclass(frozen=True)
class BuiltWorkload:
    """The parts of one workload. Absent parts are ``None``."""

    spec: WorkloadSpec
    step: Callable[[Any], Any]
    reset: Callable[[], Any] | None
    observation: Callable[[], Any] | None
    make_actions: Callable[..., Any] | None
    synchronize: Callable[[], None] | None
    work: Callable[[], dict[str, Any]] | None
    phases: Callable[[], Any] | None
    close: Callable[[], Any] | None


def accept(built: Any, name: str, num_envs: int, seed: int) -> BuiltWorkload:
    """Return the parts of what a factory returned.

    Raises:
        WorkloadError: it cannot be stepped, or it was built for another number of environments.
    """
    vector_env = looks_like_vector_env(built)
    step = getattr(built, "step", None)
    if not callable(step):
        step = built if callable(built) else None
    if step is None:
        raise WorkloadError(
            f"The factory of {name!r} returned a {type(built).__name__}, "
            "which has no step() and is not callable."
        )
    spec = getattr(built, "spec", None)
    if not isinstance(spec, WorkloadSpec):
        spec = vector_env_spec(built, num_envs) if vector_env else WorkloadSpec(num_envs)
    if spec.num_envs != num_envs:
        raise WorkloadError(f"{name!r} was asked for {num_envs} environments and built {spec.num_envs}.")
    reset = getattr(built, "reset", None)
    if vector_env:
        reset = _seeded(built.reset, seed)
    return BuiltWorkload(
        spec=spec,
        step=step,
        reset=reset if callable(reset) else None,
        observation=None if vector_env else _part(built, "observation"),
        make_actions=_part(built, "make_actions"),
        synchronize=_part(built, "synchronize"),
        work=_part(built, "work"),
        phases=_part(built, "phases"),
        close=_part(built, "close"),
    )


def _seeded(reset: Callable[..., Any], seed: int) -> Callable[[], Any]:
    return lambda: reset(seed=seed)


def _part(built: Any, name: str) -> Any:
    part = getattr(built, name, None)
    return part if callable(part) else None


@dataclass(frozen=True)
class CountedStep:
    """How a workload's steps are counted, settled by what its first step returned."""

    step: Callable[[Any], Any]
    observation: Callable[[], Any] | None
    autoreset: Autoreset | None
    assumption: str | None
    """What had to be assumed, for the record; ``None`` where the workload told."""


def settle_counting(workload: BuiltWorkload, first_outcome: Any) -> CountedStep:
    """Choose how steps are counted from the outcome of the first one."""
    spec = workload.spec
    if first_outcome is None and spec.autoreset is None:
        return CountedStep(
            workload.step, workload.observation, None, "every row of every step is taken for a transition"
        )
    if first_outcome is None or isinstance(first_outcome, (Tally, int)):
        return CountedStep(workload.step, workload.observation, spec.autoreset, None)
    if is_row_result(first_outcome):
        counter = RowCounter(workload.step, spec.num_envs, spec.autoreset or Autoreset.SAME_STEP)
        counter.observe(first_outcome)
        assumption = None
        if spec.autoreset is None:
            assumption = "the autoreset mode is not told; rows are taken to reset in the step that ends them"
        return CountedStep(
            counter.step, workload.observation or counter.observation, spec.autoreset, assumption
        )
    inner = workload.step

    def silent_step(actions: Any) -> None:
        inner(actions)

    return CountedStep(
        silent_step,
        workload.observation,
        spec.autoreset,
        f"step() returns {type(first_outcome).__name__}, which tells no counts; "
        "every row of every step is taken for a transition",
    )
