"""The suite's cases by name. Importing this imports neither NumPy nor an engine."""

from __future__ import annotations

from envdyno.agent.workloads.registry import Registration

_GROUP = "suite"
_MUJOCO = ("mujoco", "numpy")

SUITE: tuple[Registration, ...] = (
    Registration(
        "go2_joystick_flat/mujoco",
        "envdyno.suite.cases:go2_joystick_flat_mujoco",
        "Unitree Go2 follows velocity commands on flat ground, MuJoCo",
        requires=_MUJOCO,
        install="pip install envdyno",
        group=_GROUP,
    ),
    Registration(
        "g1_walk_flat/mujoco",
        "envdyno.suite.cases:g1_walk_flat_mujoco",
        "Unitree G1 walks after velocity commands on flat ground, MuJoCo",
        requires=_MUJOCO,
        install="pip install envdyno",
        group=_GROUP,
    ),
)
"""In the order in which they are listed."""
