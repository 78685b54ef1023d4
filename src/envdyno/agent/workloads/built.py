"""A built workload as the measuring loop sees it: the contract's optional parts looked up once.

Three kinds of object are accepted: one that follows the contract; one with Gymnasium's vector interface
(or any ``step`` that returns observations, rewards, terminated, truncated, information); and a bare
callable that takes a batch of actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envdyno.agent.measure.step_log import as_tally
from envdyno.agent.workloads.contract import Autoreset, Tally, WorkloadSpec, is_count
from envdyno.agent.workloads.ended_reset import EndedReset
from envdyno.agent.workloads.gymnasium_count import why_not_inside
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.rows import RowCounter, is_row_result, row_count
from envdyno.agent.workloads.vector_env import assumed_autoreset, looks_like_vector_env, vector_env_spec

EVERY_ROW = "every row of every step is taken for a transition"


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
    contacts_now: Callable[[], Any] | None
    phases: Callable[[], Any] | None
    count_inside: Callable[[], int] | None
    reset_ended: Callable[[Any], Any] | None
    """Resets the rows that ended, where the workload leaves that to its caller and tells how."""
    close: Callable[[], Any] | None
    assumed: tuple[Autoreset, str]
    """How rows are counted where the workload tells no mode, and the assumption that this is."""
    assumption: str | None = None
    """What the workload itself assumed to count."""
    notes: tuple[str, ...] = ()
    """What whoever checks it should know, in parts of sentences."""
    why_not_inside: str | None = None
    """Why nothing can be counted inside its environments, where that is known."""


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
    assumption = getattr(built, "counting_assumption", None)
    return BuiltWorkload(
        spec=spec,
        step=step,
        reset=reset if callable(reset) else None,
        observation=None if vector_env else _part(built, "observation"),
        make_actions=_part(built, "make_actions"),
        synchronize=_part(built, "synchronize"),
        work=_part(built, "work"),
        contacts_now=_part(built, "contacts_now"),
        phases=_part(built, "phases"),
        count_inside=_part(built, "count_inside"),
        reset_ended=EndedReset(built) if vector_env and spec.autoreset is Autoreset.DISABLED else None,
        close=_part(built, "close"),
        assumed=assumed_autoreset(built),
        assumption=assumption if isinstance(assumption, str) else None,
        notes=tuple(getattr(built, "check_notes", ())),
        why_not_inside=why_not_inside(getattr(built, "vector", built)),
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
    """Choose how steps are counted from the outcome of the first one.

    Raises:
        WorkloadError: the outcome contradicts what was asked for, so that any count would be wrong.
    """
    if is_row_result(first_outcome):
        return _count_rows(workload, first_outcome)
    mode = workload.spec.autoreset
    if first_outcome is None:
        return CountedStep(workload.step, workload.observation, mode, _assumed_of_silence(mode))
    if isinstance(first_outcome, Tally) or is_count(first_outcome):
        try:
            as_tally(first_outcome, workload.spec.num_envs)
        except ValueError as error:
            raise WorkloadError(str(error)) from error
        return CountedStep(workload.step, workload.observation, mode, workload.assumption)
    inner = workload.step

    def silent_step(actions: Any) -> None:
        inner(actions)

    assumption = f"step() returns {type(first_outcome).__name__}, which tells no counts; {EVERY_ROW}"
    return CountedStep(silent_step, workload.observation, mode, assumption)


def _assumed_of_silence(mode: Autoreset | None) -> str | None:
    """Return what is assumed where ``step`` returns ``None``."""
    if mode is None:
        return EVERY_ROW
    if mode in (Autoreset.NEXT_STEP, Autoreset.MASKED):
        return f"step() tells no counts, though the autoreset mode is {mode.value}; {EVERY_ROW}"
    return None


def _count_rows(workload: BuiltWorkload, first_outcome: Any) -> CountedStep:
    """Count from observations, rewards and ends, once it is sure that there is a row for each environment."""
    num_envs, mode = workload.spec.num_envs, workload.spec.autoreset
    rows = row_count(first_outcome)
    if rows != num_envs:
        found = "a single reward" if rows is None else f"rewards of {rows} rows"
        raise WorkloadError(
            f"step() returned {found} where {num_envs} environments were asked for. "
            "The factory has to build a vectorised environment of num_envs rows."
        )
    if mode is Autoreset.DISABLED and workload.reset_ended is None:
        raise WorkloadError(
            "The environments do not reset themselves (autoreset mode disabled), and nothing here does: "
            "rows would be stepped beyond the end of their episodes. Build them with another mode, or let "
            "the factory return a VectorEnv, or a workload that resets them and counts."
        )
    assumed_mode, assumed = workload.assumed
    counter = RowCounter(workload.step, num_envs, mode or assumed_mode, workload.reset_ended)
    counter.observe(first_outcome)
    assumption = None
    if mode is None:
        assumption = assumed
    elif mode is Autoreset.MASKED:
        assumption = f"step() does not tell which rows were transitions; {EVERY_ROW}"
    return CountedStep(counter.step, workload.observation or counter.observation, mode, assumption)
