"""What a process has loaded: installed distributions and their versions."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable
from typing import Any


def loaded_distributions() -> dict[str, str]:
    """Return name and version of every distribution that a loaded top-level module belongs to."""
    owners = importlib.metadata.packages_distributions()
    names = {name for module in list(sys.modules) if "." not in module for name in owners.get(module, ())}
    return {name: importlib.metadata.version(name) for name in sorted(names, key=str.lower)}


def module_origins(modules: Iterable[str]) -> list[dict[str, Any]]:
    """Return where each of the modules under test was loaded from, with a hash of its sources."""
    names = sorted(set(modules))
    if not names:
        return []
    from envdyno.agent.measure.origin import origins

    return [origin.to_json() for origin in origins(names)]
