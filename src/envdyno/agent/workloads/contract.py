"""The contract between the measuring loop and whatever is stepped.

A workload is built by a factory, called as ``factory(num_envs=..., seed=..., **options)``. It returns an
object with a ``spec`` and a ``step(actions)``; everything else is optional and looked up by name:

=====================  =========================================================================
``step(actions)``      advance every environment once; returns a :class:`Tally`, an ``int``
                       (transitions completed; the other rows only reset) or ``None`` (every row
                       was a transition, and the workload tells nothing more)
``reset()``            bring all environments to a start state; called once after the build
``observation()``      the latest observations, an array or a mapping of arrays, leading axis
                       ``num_envs``; called outside the timed span only
``make_actions(...)``  prepare the action ring itself, for action spaces that are no plain array
``synchronize()``      wait until all work handed to an accelerator is done
``work()``             running totals of what was done, see :class:`WorkTotals`
``contacts_now()``     contacts in the latest states, see :class:`ContactSample`; called outside the timed
                       span only
``phases()``           running totals of the framework's own timers, see :class:`PhaseTotal`
``count_inside()``     transitions so far, counted inside the environments in another way than by what
                       ``step`` returns; built where the context says ``check``, read by ``envdyno check``
``close()``            release everything
=====================  =========================================================================

Standard library only: this module is imported in processes that have no NumPy.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypedDict, TypeGuard


class Autoreset(str, Enum):
    """How a workload begins a new episode in a row whose episode ended; decides what is a transition.

    The names of the first three are Gymnasium's (``gymnasium.vector.AutoresetMode``).
    """

    SAME_STEP = "same_step"
    """The row is reset inside the step that ended it: every row of every step is a transition."""
    NEXT_STEP = "next_step"
    """The step after the end only resets the row: it is a reset row, not a transition."""
    DISABLED = "disabled"
    """The caller resets. The adapter does, and that time is the phase ``reset_done``."""
    MASKED = "masked"
    """The workload itself says which rows were transitions."""
    NONE = "none"
    """There are no episodes, as in a bare physics engine."""


class Tally(NamedTuple):
    """What one vector step completed. Absent (``None``) means that the workload does not tell."""

    transitions: int
    """Environments advanced by one action."""
    reset_rows: int = 0
    """Rows that did nothing but reset."""
    episodes: int | None = None
    """Episodes that ended in this step."""
    nonfinite_rows: int | None = None
    """Rows in which the step produced a NaN or an infinity."""
    reward_sum: float | None = None
    """Sum of the rewards over all rows, in the task's own unit."""


def is_count(outcome: Any) -> TypeGuard[int]:
    """Return whether ``outcome`` is a number of transitions: an integer of any kind, but no truth value."""
    return isinstance(outcome, numbers.Integral) and not isinstance(outcome, bool)


class WorkTotals(TypedDict, total=False):
    """Running totals since the build, read at the edges of the window. Absent keys are not told."""

    episode_steps: int
    """Transitions in the episodes that have ended, so that mean lengths follow."""
    substeps: int
    """Physics steps of single environments."""
    dispatches: int
    """Calls into the physics engine."""
    contacts: int
    """Contacts, summed over substeps or steps as the engine tells. An engine that can only look at its states
    offers ``contacts_now()`` instead."""
    solver_iterations: int


class ContactSample(NamedTuple):
    """Contacts at one instant, as the engine detects them: a sample, where :class:`WorkTotals` are totals.

    Taken once after the warm-up and once after the window, so that it may cost more than a step may.
    """

    contacts: int
    """Summed over the rows that were looked at."""
    rows: int
    """Rows that were looked at: all, or some that stand for all."""


class PhaseTotal(NamedTuple):
    """Running total of one named part of a vector step."""

    path: str
    """Names from the outermost phase inwards, joined by ``/``: ``env_step/physics``."""
    wall_ns: int
    calls: int | None
    """Times that the phase was entered; ``None`` where the source tells times only."""
    cpu_ns: int | None = None
    """CPU time of all the process's threads while the phase ran, where the source tells."""


@dataclass(frozen=True)
class ArraySpec:
    """Shape of one environment's row (no batch axis), NumPy dtype name, and bounds.

    A bound is one number for all entries, or a nested tuple of the row's shape; ``None`` is unbounded.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float | Sequence[Any] | None = None
    high: float | Sequence[Any] | None = None


@dataclass(frozen=True)
class WorkloadSpec:
    """What is known of a workload once it is built. ``None`` means not told, never zero."""

    num_envs: int
    action: ArraySpec | None = None
    observation: Mapping[str, ArraySpec] = field(default_factory=dict)
    """By group name, e.g. ``policy`` and ``critic``."""
    autoreset: Autoreset | None = None
    substeps: int | None = None
    """Physics steps inside one transition."""
    step_dt_s: float | None = None
    """Simulated seconds in one transition."""
    episode_limit_steps: int | None = None
    threads: int | None = None
    """Threads that the workload was told to step with."""
    details: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    """Anything else that fixes the work, e.g. engine and solver settings; compared between sides."""
    modules_under_test: Sequence[str] = ()
    """Top-level modules whose code is being measured; their origin is proven."""


class Workload(Protocol):
    """The part of the contract that every workload has."""

    @property
    def spec(self) -> WorkloadSpec:
        """What was built."""
        ...

    def step(self, actions: Any) -> Tally | int | None:
        """Advance every environment once."""
        ...


class BuildContext(NamedTuple):
    """Facts about the worker that a factory may ask for by a parameter named ``context``."""

    worker: int
    workers: int
    cpus: tuple[int, ...]
    """CPUs that the worker may use, ascending."""
    threads: int
    """Size to give to thread pools: CPUs of the placement, cut to the CPU quota."""
    attribution: bool
    """True in a run whose phases are timed."""
    check: bool = False
    """True where the workload is checked, not measured: it may then count inside its environments."""
