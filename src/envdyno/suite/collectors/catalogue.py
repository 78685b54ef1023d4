"""The collector cases by name. Importing this imports neither NumPy, an engine, nor PyTorch."""

from __future__ import annotations

from envdyno.agent.workloads.registration import Registration
from envdyno.suite.catalogue import SUITE, told

REFERENCE_CASES = (
    "flashsac/go2_joystick_flat/mujoco",
    "flashsac/g1_walk_flat/mujoco",
    "flashsac/g1_walk_flat/motrix",
    "sac/g1_walk_flat/mujoco",
    "sac/g1_walk_flat/motrix",
    "sac/g1_motion_tracking/mujoco",
    "sac/g1_motion_tracking/motrix",
)
"""The seven cases by which stacks are compared, in the order in which they are run."""

_TITLES = {"flashsac": "FlashSAC", "sac": "SAC"}


def _around(collector: str, task: Registration) -> Registration:
    name = f"{collector}/{task.name}"
    return Registration(
        name,
        f"envdyno.suite.collectors.cases:{name.replace('/', '_')}",
        f"{_TITLES[collector]} collector: {task.summary}",
        requires=task.requires,
        install=task.install,
        group="suite" if name in REFERENCE_CASES else "suite collectors",
        tells=told("env_step and its parts, action_select, replay, bookkeeping"),
        limits=("Its actor network (-o policy=torch) needs PyTorch: pip install torch.",),
        example=f"{name} --num-envs 2048",
    )


_BY_NAME = {
    entry.name: entry for collector in _TITLES for task in SUITE for entry in (_around(collector, task),)
}

COLLECTORS: tuple[Registration, ...] = (
    *(_BY_NAME[name] for name in REFERENCE_CASES),
    *(entry for name, entry in _BY_NAME.items() if name not in REFERENCE_CASES),
)
"""Every collector around every task of the suite, the reference cases first."""
