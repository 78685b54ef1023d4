"""Commands: what the robot is asked to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from envdyno.suite.arrays import FloatArray, RowArray

if TYPE_CHECKING:
    from envdyno.suite.manager.environment import ManagerEnvironment


class CommandTerm(ABC):
    """A source of commands, for every row."""

    def __init__(self, environment: ManagerEnvironment) -> None:
        """Belong to ``environment``."""
        self.environment = environment

    @property
    @abstractmethod
    def command(self) -> FloatArray:
        """The present command, (num_envs, features)."""

    def sense(self) -> None:  # noqa: B027 - most commands do not look at the robot
        """Look at the robot after a step, before terms are evaluated."""

    @abstractmethod
    def advance(self) -> None:
        """Let a control step pass."""

    @abstractmethod
    def resample(self, rows: RowArray) -> None:
        """Draw new commands for ``rows``, which begin an episode."""


class CommandManager:
    """Command terms by name."""

    def __init__(
        self,
        terms: Mapping[str, Callable[[ManagerEnvironment], CommandTerm]],
        environment: ManagerEnvironment,
    ) -> None:
        """Make the terms."""
        self.terms = {name: make(environment) for name, make in terms.items()}

    def command(self, name: str) -> FloatArray:
        """Return the present command of a term."""
        return self.terms[name].command

    def sense(self) -> None:
        """Let every term look at the robot."""
        for term in self.terms.values():
            term.sense()

    def advance(self) -> None:
        """Let a control step pass."""
        for term in self.terms.values():
            term.advance()

    def reset(self, rows: RowArray) -> None:
        """Draw new commands for ``rows``."""
        for term in self.terms.values():
            term.resample(rows)
