"""Engines by name; an engine's package is imported when it is asked for."""

from __future__ import annotations

import importlib
from enum import Enum

from envdyno.suite.engines.contract import Engine, EngineMissingError, EngineRequest


class EngineName(str, Enum):
    """Which physics engine steps the robot."""

    MUJOCO = "mujoco"
    MOTRIX = "motrix"


_MODULES = {
    EngineName.MUJOCO: ("envdyno.suite.engines.mujoco", "MujocoEngine", "install envdyno"),
    EngineName.MOTRIX: ("envdyno.suite.engines.motrix", "MotrixEngine", "install envdyno[motrix]"),
}


def make_engine(name: EngineName, request: EngineRequest) -> Engine:
    """Build an engine.

    Raises:
        EngineMissingError: its package is not installed; says what to install.
    """
    module, attribute, remedy = _MODULES[name]
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("envdyno"):
            raise
        raise EngineMissingError(
            f"The engine {name.value} needs the package {error.name!r}, which is not installed: {remedy}."
        ) from error
    engine: Engine = getattr(found, attribute)(request)
    return engine
