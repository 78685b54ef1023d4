"""Where each generation of UniLab keeps what the adapter uses.

Three are published, and are told apart by what is there, not by their numbers:

- 1.0 to 1.3.3: NumPy environments; the off-policy runtime is the package ``uni_rl`` (unilab-rl);
- 1.3.4 and 1.3.5: PyTorch environments, and still ``uni_rl``, which is then an extra;
- 1.4 and 1.5: PyTorch environments, ``EnvConfigAdapter`` instead of ``BackendAdapter``, and the runtime
  ``unilab.rl.runtime``; its replay buffer is told of time limits only where a row did not fail as well.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.registry import WorkloadError

FRAMEWORK = Framework.of("unilab", "unilab")
KNOWN = "1.0 to 1.5"
"""Versions whose layout the adapter knows."""
RUNTIMES = ("unilab.rl.runtime", "uni_rl")
"""Packages of the off-policy runtime, newest first."""
CONFIG_ADAPTERS = ("EnvConfigAdapter", "BackendAdapter")
"""Names of the class that turns a configuration into an environment's, newest first."""


@dataclass(frozen=True)
class Layout:
    """What the adapter uses of the UniLab that is installed."""

    config_adapter: Any
    create_env: Any
    ensure_registries: Any
    replay_buffer: Any
    thread_budget: Any
    """Module that sizes PyTorch's pools in the collector's process."""
    timeouts: Callable[[Any, Any], Any]
    """From (terminated, truncated) to what the replay buffer's column of truncations gets."""


def installed_layout() -> Layout:
    """Return the layout of the installed UniLab.

    Raises:
        WorkloadError: it is not installed, is not whole, or is laid out in a way the adapter does not know.
    """
    FRAMEWORK.load()
    adapters = _module("unilab.base.config_adapter")
    adapter = next((name for name in CONFIG_ADAPTERS if hasattr(adapters, name)), None)
    if adapter is None:
        raise _unknown(f"neither {' nor '.join(CONFIG_ADAPTERS)} in unilab.base.config_adapter")
    runtime = _runtime(of_its_own=adapter == CONFIG_ADAPTERS[0])
    worker = _module(f"{runtime}.offpolicy.worker")
    return Layout(
        config_adapter=getattr(adapters, adapter),
        create_env=_attribute(adapters, "create_env"),
        ensure_registries=_attribute(_module("unilab.base.registry"), "ensure_registries"),
        replay_buffer=_attribute(_module(f"{runtime}.ipc.replay_buffer"), "ReplayBuffer"),
        thread_budget=_module(f"{runtime}.offpolicy.thread_budget"),
        timeouts=getattr(worker, "timeout_bootstrap_mask", _every_truncation),
    )


def _runtime(*, of_its_own: bool) -> str:
    """Return the package of the off-policy runtime; older versions have it in a distribution beside them."""
    for name in RUNTIMES:
        if _is_there(name):
            return name
    if of_its_own:
        raise _unknown(f"no off-policy runtime ({' or '.join(RUNTIMES)})")
    raise WorkloadError(
        f"UniLab {FRAMEWORK.version()} has its off-policy collector in the package unilab-rl, which is not "
        f"installed for {sys.executable}. Install the version of it that UniLab's metadata names: "
        f"pip install 'unilab[uni-rl]=={FRAMEWORK.version()}'"
    )


def _unknown(what: str) -> WorkloadError:
    return WorkloadError(
        f"UniLab {FRAMEWORK.version()} for {sys.executable} has {what}. This adapter knows the layouts of "
        f"{KNOWN}: install one of those, or take a newer envdyno."
    )


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _module(name: str) -> Any:
    if not _is_there(name):
        raise _unknown(f"no module {name}")
    return FRAMEWORK.load(name)


def _attribute(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise _unknown(f"no {name} in {module.__name__}")
    return getattr(module, name)


def _every_truncation(terminated: Any, truncated: Any) -> Any:  # noqa: ARG001 - alike for every row
    return truncated
