"""The adapters that come with envdyno, by name. Importing this imports no framework."""

from __future__ import annotations

from envdyno.agent.workloads.registry import Naming, Registration

ADAPTERS: tuple[Registration, ...] = (
    Registration(
        "gymnasium",
        "envdyno.agent.workloads.gymnasium:build",
        "any Gymnasium environment as a vector: an id, or module:factory of a VectorEnv",
        naming=Naming.PREFIX,
        requires=("gymnasium",),
        install="pip install 'gymnasium[mujoco]>=1.1'",
        group="adapters",
    ),
)
