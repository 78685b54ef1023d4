"""What came of a binding: two facts, one for CPUs and one for memory, each with its cause and remedy."""

from __future__ import annotations

import errno as errno_codes
from enum import Enum
from typing import Any, NamedTuple

from envdyno.agent.placement import wire


class State(str, Enum):
    """How one half of a binding ended."""

    APPLIED = "applied"
    """Set, and read back as asked."""
    PARTIAL = "partial"
    """Set, but the kernel kept less than was asked (``actual`` tells what)."""
    DENIED = "denied"
    """Refused for lack of permission."""
    UNSUPPORTED = "unsupported"
    """This system has no such call or no such thing to bind to."""
    FAILED = "failed"
    """Refused for another reason; ``message`` tells which."""
    OFF = "off"
    """Not asked for."""


class Fact(NamedTuple):
    """One half of an outcome."""

    state: State
    actual: tuple[int, ...] | None = None
    """CPUs or memory nodes as read back; None when they could not be read."""
    errno: int | None = None
    errno_name: str | None = None
    """Symbol of the error number, e.g. ``EPERM``."""
    message: str | None = None
    """What happened, in a sentence; None when all is as asked."""
    remedy: str | None = None
    """What the user can do about it."""

    @classmethod
    def from_error(cls, state: State, error: OSError, message: str, remedy: str | None = None) -> Fact:
        """The fact of a system call that failed."""
        name = errno_codes.errorcode.get(error.errno) if error.errno is not None else None
        return cls(state, None, error.errno, name, message, remedy)

    def to_json(self) -> dict[str, Any]:
        """This fact in plain JSON types."""
        return dict(wire.encode(self))

    @classmethod
    def from_json(cls, data: Any) -> Fact:
        """The fact that ``to_json`` wrote; ValueError when it is malformed."""
        return wire.decode(cls, data)


class Outcome(NamedTuple):
    """What came of binding one process."""

    cpu: Fact
    memory: Fact

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for is in place; the test of ``--strict-placement``."""
        return all(fact.state in (State.APPLIED, State.OFF) for fact in self)

    def to_json(self) -> dict[str, Any]:
        """This outcome in plain JSON types."""
        return dict(wire.encode(self))

    @classmethod
    def from_json(cls, data: Any) -> Outcome:
        """The outcome that ``to_json`` wrote; ValueError when it is malformed."""
        return wire.decode(cls, data)
