"""The suite's cases by name. Importing this imports neither NumPy nor an engine."""

from __future__ import annotations

from envdyno.agent.workloads.registration import Registration, Tells, Told
from envdyno.agent.workloads.requirement import Requirement, pip_install

NEEDS = {
    "mujoco": (Requirement("mujoco", "3.3"), Requirement("numpy", "1.26")),
    "motrix": (Requirement("motrixsim", "0.10"), Requirement("numpy", "1.26")),
}
"""What each engine's cases import; an interpreter that runs them needs nothing else of envdyno's."""


def told(phases: str) -> tuple[Told, ...]:
    """Return what a case tells, whose vector step consists of ``phases``."""
    return (
        Told(Tells.RESETS),
        Told(Tells.EPISODE_LENGTHS),
        Told(Tells.REWARDS),
        Told(Tells.SUBSTEPS),
        Told(Tells.SIMULATED_TIME),
        Told(Tells.UNSTABLE_ROWS),
        Told(Tells.PHASES, phases),
        Told(Tells.CONTACTS, "sampled"),
    )


def _case(task: str, engine: str, summary: str) -> Registration:
    return Registration(
        f"{task}/{engine}",
        f"envdyno.suite.cases:{task}_{engine}",
        summary,
        requires=NEEDS[engine],
        install=pip_install(*NEEDS[engine]),
        group="suite tasks",
        tells=told("env_step and its parts"),
        example=f"{task}/{engine} --num-envs 2048",
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
