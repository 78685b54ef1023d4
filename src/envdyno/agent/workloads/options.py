"""Checking the options that adapters take from the user."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, TypeVar

from envdyno.agent.workloads.cause import in_a_line
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.registry import WorkloadError

_Kind = TypeVar("_Kind", bound=Enum)
_OF_A_VALUE = (TypeError, ValueError, LookupError, AttributeError, AssertionError, ArithmeticError, OSError)
"""What Python code raises that was given a value which it cannot use."""


def choice(adapter: str, option: str, value: Any, kind: type[_Kind]) -> _Kind:
    """Return the member of ``kind`` that ``value`` names.

    Raises:
        WorkloadError: there is none.
    """
    try:
        return kind(value)
    except ValueError:
        raise _refused(adapter, option, value, [str(member.value) for member in kind]) from None


def one_of(adapter: str, option: str, value: Any, offered: Collection[str]) -> str:
    """Return ``value`` if it is offered.

    Raises:
        WorkloadError: it is not.
    """
    if value in offered:
        return str(value)
    raise _refused(adapter, option, value, offered)


def whole(adapter: str, option: str, value: Any, least: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``least``.

    Raises:
        WorkloadError: it is not.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise WorkloadError(f"{adapter} was given {option}={value!r}; it is a whole number of at least {least}.")


def truth(adapter: str, option: str, value: Any) -> bool:
    """Return ``value`` if it is true or false.

    Raises:
        WorkloadError: it is not.
    """
    if isinstance(value, bool):
        return value
    raise WorkloadError(f"{adapter} was given {option}={value!r}; it is true or false.")


@contextmanager
def refusing_values(name: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Make what a framework raises about the values of ``options`` a sentence that names them.

    Options that are ``None`` were not given. Without any, whatever is raised is passed on.

    Args:
        name: what is made, as the user wrote it.
        options: what the user gave, as the framework gets it.

    Raises:
        WorkloadError: the framework cannot make it with these options.
    """
    try:
        yield
    except WorkloadError:
        raise
    except _OF_A_VALUE as error:
        given = ", ".join(f"{key}={value!r}" for key, value in options.items() if value is not None)
        if not given:
            raise
        if (unknown := _unexpected(error)) in options:
            raise WorkloadError(f"{name} has no option {unknown!r}: {in_a_line(error)}.") from error
        raise WorkloadError(f"{name} cannot be made with {given}: {in_a_line(error)}.") from error


def _unexpected(error: Exception) -> str | None:
    """Return the name that a call did not take, where Python says which."""
    found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    return found[1] if found else None


def _refused(adapter: str, option: str, value: Any, offered: Collection[str]) -> WorkloadError:
    near = did_you_mean(str(value), offered)
    return WorkloadError(f"{adapter} has no {option}={value!r}; it has: {', '.join(offered)}.{near}")
