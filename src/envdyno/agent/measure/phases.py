"""``phase("physics")``: name a part of a step, at next to no cost while nobody asks.

::

    from envdyno import phase

    with phase("physics"):              # inline
        self._engine.step(controls)

    self._physics = phase("physics")    # held: looked up once, entered every step
    ...
    with self._physics:
        self._engine.step(controls)

    @phase("update_state")              # every call of the function
    def update_state(self): ...

Phases are off until :func:`enable`; the loop that measures turns them on for an attribution run only. What
they count, also for threads, recursion and misuse, is told in :mod:`envdyno.agent.measure.phase_recorder`.

**While off** a phase still is a ``with`` statement, so its cost is that of finding and calling
``__enter__`` and ``__exit__``. These are then two C functions that do nothing, and ``phase`` itself is the C
lookup in a dictionary of all phases made so far; no Python frame is entered.
``benchmarks/phase_overhead.py`` prints the cost.

**Switching** replaces the two methods on the class, so phases that were made and held while off are timed as
soon as phases are on. A ``with`` statement looks up both methods before it enters, so a block that is entered
on one side of a switch is left on the same side, and no begin is without its end.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from envdyno.agent.measure.phase_recorder import CpuTiming, PhaseRecorder
from envdyno.agent.workloads.contract import PhaseTotal

__all__ = [
    "CpuTiming",
    "Phase",
    "declared",
    "disable",
    "enable",
    "is_enabled",
    "misnested",
    "other_threads",
    "phase",
    "reset",
    "totals",
]

_MAX_NAMES = 4096
"""More names than any program writes by hand: names made in a loop are not kept, so that they cannot leak."""

_F = TypeVar("_F", bound=Callable[..., Any])


class Phase:
    """A named part of a step: a context manager that can be entered any number of times, and a decorator.

    It holds a name and no state, so it may be shared by threads, entered while open, copied and pickled.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    if TYPE_CHECKING:  # set on the class by _switch

        def __enter__(self) -> None: ...

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None: ...

    def __call__(self, function: _F) -> _F:
        """Make every call of ``function`` a phase.

        Raises:
            TypeError: ``function`` is a generator or a coroutine function; calling one runs none of its body,
                and its time would be mixed with that of whoever runs between its steps.
        """
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            kind = "a generator function"
        elif inspect.iscoroutinefunction(function):
            kind = "a coroutine function"
        else:

            @functools.wraps(function)
            def timed(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

            return timed  # type: ignore[return-value]
        raise TypeError(
            f"phase({self.name!r}) cannot time {_name_of(function)}, for it is {kind}: it is suspended in "
            f"the middle. Put 'with phase({self.name!r}):' inside it, around work without yield or await."
        )

    def __repr__(self) -> str:
        return f"phase({self.name!r})"

    def __reduce__(self) -> tuple[Callable[[str], Phase], tuple[str]]:
        return _restore, (self.name,)


class _PhasesByName(dict[str, Phase]):
    def __missing__(self, name: str) -> Phase:
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(
                f"A phase needs a name that is a non-empty string without '/', and got {name!r}. "
                "Nest phases to get a path."
            )
        made = Phase(name)
        return made if len(self) >= _MAX_NAMES else self.setdefault(name, made)


_phases = _PhasesByName()

if TYPE_CHECKING:

    def phase(name: str, /) -> Phase:
        """The phase called ``name``; the same object every time.

        Raises:
            ValueError: ``name`` is empty, no string, or holds a ``/``.
        """
        ...

else:
    phase = _phases.__getitem__  # a C function: entering a Python one would cost more than all the rest

_recorder = PhaseRecorder()


def enable(cpu: CpuTiming = CpuTiming.OFF) -> None:
    """Time all phases from now on; the calling thread is the one whose phases :func:`totals` returns.

    Totals go on from where they were, so that a window is the difference of two reads; a change of ``cpu``
    begins at zero. Phases that are open at this moment were entered while off and are not timed.
    """
    _recorder.start(cpu)
    _switch(_begin, _end)


def disable() -> None:
    """Stop timing. Totals stay readable; a phase that is open at this moment is still timed to its end."""
    _switch(_do_nothing.release, _do_nothing.__exit__)


def is_enabled() -> bool:
    """Whether phases that begin now are timed."""
    return Phase.__enter__ is _begin


def reset() -> None:
    """Begin at zero. Of a phase that is open, only the time after this moment will count, without a call."""
    _recorder.reset()


def totals() -> tuple[PhaseTotal, ...]:
    """Running totals of the stepping thread, parents before children.

    A phase that is open counts with the time that has passed, so the difference of two reads is what
    happened between them. ``calls`` counts entries, so a phase that was entered before the first read adds
    time without a call. Phases that ran before the last :func:`reset` and not since have 0 calls.
    """
    return _recorder.totals()


def other_threads() -> dict[str, tuple[PhaseTotal, ...]]:
    """Running totals of every other thread, by thread name. They overlap the stepping thread's time."""
    return _recorder.other_threads()


def misnested() -> int:
    """How often a phase ended out of turn, as when one is held across a ``yield``; 0 means exact times."""
    return _recorder.misnested()


def declared() -> frozenset[str]:
    """Names that the program has made a phase of, entered or not."""
    return frozenset(_phases)


def _begin(entered: Phase) -> None:
    _recorder.begin(entered.name)


def _end(entered: Phase, *_: object) -> None:
    _recorder.end(entered.name)


def _switch(enter: Callable[..., None], leave: Callable[..., None]) -> None:
    # One after the other, and harmless in between: a block entered by the old pair's __enter__ with the new
    # pair's __exit__ is an end without a begin, which the recorder ignores, or a begin that its parent ends.
    Phase.__enter__ = enter  # type: ignore[method-assign]
    Phase.__exit__ = leave  # type: ignore[method-assign]


def _restore(name: str) -> Phase:
    return phase(name)


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


# A released memoryview: its release() and its __exit__() are C functions that find nothing to do, take any
# arguments and return None. As attributes of a class they are not bound to the instance.
_do_nothing = memoryview(b"")
_do_nothing.release()
disable()
