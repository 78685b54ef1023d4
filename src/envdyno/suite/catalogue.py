"""The suite's cases by name. Importing this imports neither NumPy nor an engine."""

from __future__ import annotations

from envdyno.agent.workloads.registration import Registration

_PACKAGES = {
    "mujoco": (("mujoco", "numpy"), "pip install envdyno"),
    "motrix": (("motrixsim", "numpy"), "pip install envdyno[motrix]"),
}
_ENGINE_NAMES = {"mujoco": "MuJoCo", "motrix": "MotrixSim"}


def _case(task: str, engine: str, summary: str) -> Registration:
    requires, install = _PACKAGES[engine]
    return Registration(
        f"{task}/{engine}",
        f"envdyno.suite.cases:{task}_{engine}",
        f"{summary}, {_ENGINE_NAMES[engine]}",
        requires=requires,
        install=install,
        group="suite tasks",
    )


_GO2 = "Unitree Go2 follows velocity commands on flat ground"
_WALK = "Unitree G1 walks after velocity commands on flat ground"
_TRACKING = "Unitree G1 follows 36 s of whole-body exercise"

SUITE: tuple[Registration, ...] = (
    _case("go2_joystick_flat", "mujoco", _GO2),
    _case("g1_walk_flat", "mujoco", _WALK),
    _case("g1_walk_flat", "motrix", _WALK),
    _case("g1_motion_tracking", "mujoco", _TRACKING),
    _case("g1_motion_tracking", "motrix", _TRACKING),
)
"""In the order in which they are listed."""
