"""A dynamometer for simulation environments.

Importing this package imports nothing outside the standard library and changes nothing in the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envdyno._version import __version__

if TYPE_CHECKING:
    from envdyno.agent.measure.phases import phase

__all__ = ["__version__", "phase"]


def __getattr__(name: str) -> Any:
    """Import ``phase`` when it is first asked for, and keep it where the next look-up finds it at once."""
    if name != "phase":
        raise AttributeError(f"module 'envdyno' has no attribute {name!r}")
    from envdyno.agent.measure.phases import phase

    globals()["phase"] = phase
    return phase
