"""The collector cases by name. Importing this imports neither NumPy, an engine, nor PyTorch."""

from __future__ import annotations

from envdyno.agent.workloads.registry import Registration

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

_COLLECTORS = {"flashsac": "FlashSAC collector", "sac": "SAC collector"}
_TASKS = {
    "go2_joystick_flat": "Unitree Go2 follows velocity commands",
    "g1_walk_flat": "Unitree G1 walks to velocity commands",
    "g1_motion_tracking": "Unitree G1 follows a reference motion",
}
_ENGINES = {
    "mujoco": ("MuJoCo", ("mujoco", "numpy"), "pip install envdyno"),
    "motrix": ("MotrixSim", ("motrixsim", "numpy"), "pip install 'envdyno[motrix]'"),
}


def _registration(name: str) -> Registration:
    collector, task, engine = name.split("/")
    title, requires, install = _ENGINES[engine]
    return Registration(
        name,
        f"envdyno.suite.collectors.cases:{collector}_{task}_{engine}",
        f"{_COLLECTORS[collector]}: {_TASKS[task]}, {title}",
        requires=requires,
        install=install,
        group="suite, reference cases" if name in REFERENCE_CASES else "suite, collectors",
    )


_OTHERS = tuple(
    name
    for collector in _COLLECTORS
    for task in _TASKS
    for engine in _ENGINES
    if (name := f"{collector}/{task}/{engine}") not in REFERENCE_CASES
)

COLLECTORS: tuple[Registration, ...] = tuple(map(_registration, (*REFERENCE_CASES, *_OTHERS)))
"""In the order in which they are listed: the reference cases first."""
