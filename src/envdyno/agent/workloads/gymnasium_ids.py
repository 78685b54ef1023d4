"""Targets of frameworks that register their environments with Gymnasium: ``ID`` or ``module:ID``."""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.framework import import_user_module, split_target
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.registry import WorkloadError


def registered_id(
    adapter: str, target: str, gymnasium: Any, *, lack: str, hint: str = ""
) -> tuple[str | None, str]:
    """Return the module that a target names, which is imported first, and the registered id.

    Args:
        adapter: name under which the adapter is registered.
        target: as the user gave it.
        gymnasium: the package.
        lack: beginning of the sentence where there is no such id, as ``ManiSkill has no task``.
        hint: what to do then, as a sentence with ``{name}`` for the id.

    Raises:
        WorkloadError: there is no such module, or no such id.
    """
    module, name = split_target(target)
    if module is not None:
        import_user_module(adapter, module)
    if name not in gymnasium.registry:
        near = did_you_mean(name, gymnasium.registry)
        advice = f" {hint.format(name=name)}" if hint else ""
        raise WorkloadError(f"{lack} {name!r}.{near}{advice}")
    return module, name
