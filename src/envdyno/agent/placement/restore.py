"""Bind for a while, then put back exactly the mask and the policy that were there before."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, TypeVar

from envdyno.agent.placement.bind import SECCOMP_REMEDY, bind_cpus, bind_memory
from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.errors import PlacementError, RestoreError
from envdyno.agent.placement.mempolicy import Policy
from envdyno.agent.placement.outcome import Fact, Outcome, State
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.syscalls import Kernel

_T = TypeVar("_T")
_ATTEMPTS = 8
"""A restore that is interrupted begins anew; more interrupts in a row than this are no accident."""


class Bound:
    """Context manager that binds the calling thread and puts mask and policy back; see :func:`bound`."""

    def __init__(self, placement: Placement, strict: bool, kernel: Kernel) -> None:
        self._placement = placement
        self._strict = strict
        self._kernel = kernel
        self._saved: _Saved | None = None
        self._thread: int | None = None

    def __enter__(self) -> Outcome:
        if self._saved is not None:
            raise PlacementError("This placement is in force already; make another context manager.")
        self._thread = threading.get_ident()
        self._saved = _save(self._kernel)
        try:
            outcome = _bind(self._placement, self._saved, self._kernel)
            if self._strict:
                _require_complete(outcome)
        except BaseException:
            self.put_back()
            raise
        return outcome

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.put_back()

    def __del__(self) -> None:
        # An interrupt can hit the very first instruction of __exit__; then this is the last chance.
        if getattr(self, "_saved", None) is not None:
            self.put_back()

    def put_back(self) -> None:
        """Set mask and policy to what they were. Does nothing when that is done already.

        An exception from outside in the middle of it (Ctrl-C) is raised when everything is back.

        Raises:
            RestoreError: When something could not be put back; tells what it is now and what it was.
        """
        if self._saved is None:
            return
        saved = self._saved
        if threading.get_ident() != self._thread:
            self._saved = None
            raise RestoreError(
                f"The placement was entered in one thread and left in another, and each thread has its own: "
                f"thread {self._thread} is still bound. It was {saved}. Leave it where it was entered."
            )
        failures, interruption = _insist(saved, self._kernel)
        self._saved = None
        if failures:
            raise RestoreError(
                f"The placement could not be taken back: {'; '.join(failures)}. What this thread starts from "
                "now on inherits that. End the process, or set its affinity and memory policy."
            ) from interruption
        if interruption is not None:
            raise interruption


def bound(placement: Placement, *, strict: bool = False, kernel: Kernel | None = None) -> Bound:
    """Bind the calling thread for the body of a ``with``, and give what came of it.

    Threads and processes that are started inside inherit the placement and keep it; memory that is touched
    first inside comes from its nodes and stays there. Other threads of the process are not moved.

    What cannot be read before cannot be put back, and so is not changed.

    Args:
        placement: Where to run and where memory comes from.
        strict: Raise when anything that was asked for is not in place.
        kernel: The system calls; those of this machine by default.

    Raises:
        PlacementError: On entry, with ``strict``, when a half was not applied. Nothing is changed then.
        RestoreError: On exit, when mask or policy could not be put back.
    """
    return Bound(placement, strict, kernel or Kernel())


class _Saved(NamedTuple):
    """Mask and policy of a thread, or the error of reading them."""

    cpus: tuple[int, ...] | OSError
    policy: Policy | OSError

    def __str__(self) -> str:
        cpus = "unknown" if isinstance(self.cpus, OSError) else format_cpulist(self.cpus)
        policy = "unknown" if isinstance(self.policy, OSError) else self.policy
        return f"CPU {cpus}, memory policy {policy}"


def _save(kernel: Kernel) -> _Saved:
    """Read mask and policy of the calling thread; changes nothing."""
    return _Saved(_read(kernel.get_affinity), _read(kernel.get_policy))


def _read(call: Callable[[], _T]) -> _T | OSError:
    try:
        return call()
    except OSError as error:
        return error


def _bind(placement: Placement, saved: _Saved, kernel: Kernel) -> Outcome:
    """Bind each half that can be put back."""
    cpu, memory = Fact(State.OFF), Fact(State.OFF)
    if placement.cpus:
        cpu = (
            _left_alone(saved.cpus, "the CPU mask", "Run unbound: --numa off.")
            if isinstance(saved.cpus, OSError)
            else bind_cpus(placement, kernel)
        )
    if placement.policy is not MemoryPolicy.OFF:
        memory = (
            _left_alone(saved.policy, "the memory policy", SECCOMP_REMEDY)
            if isinstance(saved.policy, OSError)
            else bind_memory(placement, kernel)
        )
    return Outcome(cpu, memory)


def _left_alone(error: OSError, what: str, remedy: str) -> Fact:
    denied = error.errno in (errno.EPERM, errno.EACCES)
    return Fact.from_error(
        State.DENIED if denied else State.UNSUPPORTED,
        error,
        f"{what[0].upper()}{what[1:]} cannot be read ({error.strerror}), so it could not be put back; "
        "it was left alone.",
        remedy if denied else None,
    )


def _insist(saved: _Saved, kernel: Kernel) -> tuple[list[str], BaseException | None]:
    """Put back, from the beginning again whenever an exception from outside cuts in; gives the last one."""
    interruption: BaseException | None = None
    for _ in range(_ATTEMPTS):
        try:
            return _put_back(saved, kernel), interruption
        except BaseException as error:
            interruption = error
    return [f"putting back {saved} was interrupted {_ATTEMPTS} times in a row"], interruption


def _put_back(saved: _Saved, kernel: Kernel) -> list[str]:
    """One attempt, which may be repeated. Gives a clause for each half that is not as it was."""
    clauses = []
    if not isinstance(saved.cpus, OSError):
        clauses.append(
            _put_back_half(saved.cpus, kernel.get_affinity, kernel.set_affinity, "CPU mask", format_cpulist)
        )
    if not isinstance(saved.policy, OSError):
        clauses.append(
            _put_back_half(saved.policy, kernel.get_policy, kernel.set_policy, "memory policy", str)
        )
    return [clause for clause in clauses if clause is not None]


def _put_back_half(
    before: _T, get: Callable[[], _T], put: Callable[[_T], None], what: str, describe: Callable[[_T], str]
) -> str | None:
    """Set one half if it differs, and read it back; None when it is as it was."""
    reason = ""
    try:
        if get() != before:
            put(before)
    except OSError as error:
        reason = f" ({error.strerror})"
    now = _read(get)
    if now == before:
        return None
    current = "unknown" if isinstance(now, OSError) else describe(now)
    return f"its {what} is {current}, before it was {describe(before)}{reason}"


def _require_complete(outcome: Outcome) -> None:
    """Raise PlacementError with what is not in place, and the remedies."""
    facts = [fact for fact in outcome if fact.state not in (State.APPLIED, State.OFF)]
    if facts:
        sentences = [fact.message or f"Binding is {fact.state.value}." for fact in facts]
        raise PlacementError(" ".join((*sentences, *(fact.remedy for fact in facts if fact.remedy))))
