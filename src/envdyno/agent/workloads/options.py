"""Checking the options that adapters take from the user."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Any, TypeVar

from envdyno.agent.workloads.registry import WorkloadError

_Kind = TypeVar("_Kind", bound=Enum)


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


def _refused(adapter: str, option: str, value: Any, offered: Collection[str]) -> WorkloadError:
    return WorkloadError(f"{adapter} has no {option}={value!r}; it has: {', '.join(offered)}.")
