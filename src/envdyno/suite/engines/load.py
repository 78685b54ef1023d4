"""Engines by name; an engine's package is imported when it is asked for."""

from __future__ import annotations

import importlib
import sys
from enum import Enum

from envdyno.agent.workloads.requirement import pip_install
from envdyno.suite.catalogue import NEEDS
from envdyno.suite.engines.contract import Engine, EngineMissingError, EngineRequest


class EngineName(str, Enum):
    """Which physics engine steps the robot."""

    MUJOCO = "mujoco"
    MOTRIX = "motrix"


_MODULES = {
    EngineName.MUJOCO: ("envdyno.suite.engines.mujoco", "MujocoEngine"),
    EngineName.MOTRIX: ("envdyno.suite.engines.motrix", "MotrixEngine"),
}


def make_engine(name: EngineName, request: EngineRequest) -> Engine:
    """Build an engine.

    Raises:
        EngineMissingError: its package is not installed; says what to install.
    """
    module, attribute = _MODULES[name]
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("envdyno"):
            raise
        raise EngineMissingError(
            f"The engine {name.value} needs the package {error.name!r}, which is not installed for "
            f"{sys.executable}: {pip_install(*NEEDS[name.value])}"
        ) from error
    engine: Engine = getattr(found, attribute)(request)
    return engine
