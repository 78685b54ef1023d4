"""Holding the options of an EnvPool task against those that the task has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.registry import RESERVED, WorkloadError

_WRAPPER_OPTIONS = frozenset(
    {"from_pixels", "render_mode", "render_env_id", "render_width", "render_height", "render_camera_id"}
)
"""Options of ``envpool.make`` that are no part of a task's configuration."""
OWN_OPTIONS = ("batch_size", "env_type", "num_threads")
"""Those of the adapter, beside those of the task."""


def check_task_options(envpool: Any, target: str, task: Mapping[str, Any]) -> None:
    """Hold the user's options against the task's own: EnvPool itself answers with the signature of its C++.

    Raises:
        WorkloadError: the task has no such option, or one of another type.
    """
    defaults = envpool.make_spec(target).config._asdict()
    for option, value in task.items():
        if option in _WRAPPER_OPTIONS:
            continue
        if option not in defaults:
            has = sorted({*OWN_OPTIONS, *defaults} - RESERVED)
            raise WorkloadError(
                f"envpool:{target} has no option {option!r}.{did_you_mean(option, has)} It has: "
                f"{', '.join(has)}."
            )
        if not _fits(value, defaults[option]):
            raise WorkloadError(
                f"envpool:{target} was given {option}={value!r}; it is {_kind(defaults[option])}, by default "
                f"{defaults[option]!r}."
            )


def _fits(value: Any, default: Any) -> bool:
    """Return whether a value can stand for a default: C++ takes whole numbers for others, and no text."""
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, int):
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return not isinstance(default, str) or isinstance(value, str)


def _kind(default: Any) -> str:
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return kinds.get(type(default), f"a {type(default).__name__}")
