"""What a task declares: terms by name, for each manager."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from envdyno.suite.arrays import AnyArray

if TYPE_CHECKING:
    from envdyno.suite.manager.command_manager import CommandTerm
    from envdyno.suite.manager.environment import ManagerEnvironment

Parameters: TypeAlias = Mapping[str, Any]
TermFunction: TypeAlias = Callable[..., AnyArray]
"""Called with the environment and the term's parameters; observation terms with rows in between."""


class ActionApplication(str, Enum):
    """When joint targets are handed to the engine."""

    STEP = "step"
    """Once a control step: one dispatch for all substeps."""
    SUBSTEP = "substep"
    """Before every substep: a dispatch for each."""


class EventMode(str, Enum):
    """When an event happens."""

    RESET = "reset"
    """To rows that begin an episode."""
    INTERVAL = "interval"
    """To each row in turn, at random intervals."""


@dataclass(frozen=True)
class JointPositionAction:
    """Actions are joint targets: ``default + scale * action``."""

    scale: tuple[float, ...]
    clip: float = 1.0


@dataclass(frozen=True)
class ObservationTerm:
    """``function(environment, rows, **parameters)`` gives (rows, features)."""

    function: TermFunction
    parameters: Parameters = field(default_factory=dict)
    scale: float | None = None
    noise: float | None = None
    """Half-width of uniform noise, before the scale."""


@dataclass(frozen=True)
class ObservationGroup:
    """Terms that are laid side by side in the order of their declaration."""

    terms: Mapping[str, ObservationTerm]
    corrupted: bool
    """Whether the terms' noise is added."""


@dataclass(frozen=True)
class RewardTerm:
    """``function(environment, **parameters)`` gives (num_envs,)."""

    function: TermFunction
    weight: float
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class TerminationTerm:
    """``function(environment, **parameters)`` gives flags (num_envs,)."""

    function: TermFunction
    parameters: Parameters = field(default_factory=dict)
    time_out: bool = False
    """Whether it truncates an episode rather than ending it in a terminal state."""


@dataclass(frozen=True)
class EventTerm:
    """``function(environment, rows, **parameters)`` changes those rows."""

    function: Callable[..., None]
    mode: EventMode
    parameters: Parameters = field(default_factory=dict)
    interval_steps: tuple[int, int] = (0, 0)
    """For intervals: control steps between two events of a row, uniformly drawn."""
    stream: str = ""
    """For intervals: the random stream that draws them."""

    def __post_init__(self) -> None:
        """Refuse an interval event without an interval.

        Raises:
            ValueError: ``interval_steps`` is no range of at least one step, or ``stream`` is missing.
        """
        low, high = self.interval_steps
        if self.mode is EventMode.INTERVAL and not (0 < low < high and self.stream):
            raise ValueError(
                f"An interval event needs interval_steps of at least one step and a random stream; "
                f"it has {self.interval_steps} and {self.stream!r}."
            )


@dataclass(frozen=True)
class ManagerConfiguration:
    """A whole task."""

    action: JointPositionAction
    commands: Mapping[str, Callable[[ManagerEnvironment], CommandTerm]]
    policy: ObservationGroup
    critic: ObservationGroup
    rewards: Mapping[str, RewardTerm]
    terminations: Mapping[str, TerminationTerm]
    events: Mapping[str, EventTerm]
    soft_limit: float
    """Share of a joint's range, about its middle, that is within the soft limits."""
    contact_force: float = 1.0
    """N; a foot that is pressed harder is in contact."""
